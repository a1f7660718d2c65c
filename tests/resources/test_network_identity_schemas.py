"""Types of several services declare what the recorded schemas say; all declarations are sound."""

from __future__ import annotations

import pytest

from stoker.plugins.registry import declaration_problems
from stoker.plugins.resource import ResourceType
from stoker.resources import barbican, blazar, keystone, manila, neutron, octavia, swift, zaqar
from stoker.resources.constraints import CONSTRAINTS
from tests.resources.schema_facts import differences, facts

ALL = (*barbican.TYPES, *blazar.TYPES, *keystone.TYPES, *manila.TYPES, *neutron.TYPES, *octavia.TYPES, *swift.TYPES,
       *zaqar.TYPES)  # fmt: skip


ON_PURPOSE = {
    # The value of a list property is a list, also by default.
    "OS::Neutron::NetworkGateway": ["properties.connections.default: declared [], recorded {}"],
}


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.type_name)
def test_declaration_equals_record(kind: type[ResourceType]) -> None:
    service = kind.type_name.split("::")[1].lower()
    assert differences(kind(), facts(service)[kind.type_name]) == ON_PURPOSE.get(kind.type_name, [])


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.type_name)
def test_declaration_is_sound(kind: type[ResourceType]) -> None:
    assert list(declaration_problems(kind(), CONSTRAINTS)) == []
    assert kind.description, "says in one line what it is for"
