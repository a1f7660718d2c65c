"""Types of Nova, Cinder and Glance have the recorded schemas."""

from __future__ import annotations

import pytest

from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.resources.cinder import TYPES as CINDER
from stoker.resources.constraints import CONSTRAINTS
from stoker.resources.glance import TYPES as GLANCE
from stoker.resources.nova import TYPES as NOVA
from tests.resources.schema_facts import differences, facts

RECORDED = {**facts("heat"), **facts("nova"), **facts("cinder"), **facts("glance")}
REVIVED = {"OS::Glance::Image"}
"""Types that the recorded release makes nothing of, and that have the properties of older releases here."""
AS_RECORDED = [kind for kind in (*NOVA, *CINDER, *GLANCE) if kind.type_name not in REVIVED]


@pytest.mark.parametrize("kind", AS_RECORDED, ids=lambda kind: kind.type_name)
def test_schema_is_the_recorded_one(kind: type[ResourceType]) -> None:
    assert differences(kind(), RECORDED[kind.type_name]) == []


def test_the_registry_takes_the_types() -> None:
    registry = Registry([*NOVA, *CINDER, *GLANCE], CONSTRAINTS)

    assert len(registry.types()) == len(NOVA) + len(CINDER) + len(GLANCE)
