"""Types of Aodh have the recorded schemas."""

from __future__ import annotations

import pytest

from stoker.plugins.resource import ResourceType
from stoker.resources.aodh import TYPES
from tests.resources.schema_facts import differences, facts

RECORDED = facts("aodh")


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.type_name)
def test_schema_is_the_recorded_one(kind: type[ResourceType]) -> None:
    assert differences(kind(), RECORDED[kind.type_name]) == []


def test_every_recorded_type_but_the_placeholder_is_there() -> None:
    assert {kind.type_name for kind in TYPES} == RECORDED.keys() - {"OS::Aodh::CombinationAlarm"}
