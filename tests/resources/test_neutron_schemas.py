"""Neutron's types declare what the recorded schemas say."""

from __future__ import annotations

import pytest
from schema_facts import differences, facts

from stoker.plugins.resource import ResourceType
from stoker.resources.neutron import TYPES


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.type_name)
def test_declaration_equals_record(kind: type[ResourceType]) -> None:
    assert differences(kind(), facts("neutron")[kind.type_name]) == []
