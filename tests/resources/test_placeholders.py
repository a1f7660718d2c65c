"""Types that create nothing are declared as recorded."""

from __future__ import annotations

import pytest

from stoker.plugins.registry import declaration_problems
from stoker.plugins.resource import ResourceType
from stoker.resources.constraints import CONSTRAINTS
from stoker.resources.placeholders import TYPES
from tests.resources.schema_facts import differences, facts


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.type_name)
def test_declaration_equals_record(kind: type[ResourceType]) -> None:
    service = kind.type_name.split("::")[1].lower()
    assert differences(kind(), facts(service)[kind.type_name]) == []
    assert list(declaration_problems(kind(), CONSTRAINTS)) == []


def test_all_recorded_placeholders_are_there() -> None:
    services = {kind.type_name.split("::")[1].lower() for kind in TYPES}
    recorded = {
        name for service in services for name, fact in facts(service).items() if fact.get("family") == "placeholder"
    }
    assert {kind.type_name for kind in TYPES} == recorded
