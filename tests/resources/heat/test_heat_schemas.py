"""Orchestration's own types declare what the recorded schemas say."""

from __future__ import annotations

import pytest

from stoker.plugins.registry import declaration_problems
from stoker.plugins.resource import ResourceType
from stoker.resources.constraints import CONSTRAINTS
from stoker.resources.heat import TYPES
from tests.resources.schema_facts import differences, facts


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.type_name)
def test_declaration_equals_record(kind: type[ResourceType]) -> None:
    assert differences(kind(), facts("heat")[kind.type_name]) == []


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.type_name)
def test_declaration_is_sound(kind: type[ResourceType]) -> None:
    assert list(declaration_problems(kind(), CONSTRAINTS)) == []
    assert kind.description, "says in one line what it is for"
