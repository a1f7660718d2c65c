"""Groups of users."""

from __future__ import annotations

from openstack_emulator.identity.records import Group
from openstack_emulator.identity.routes.entity import Entity, fill_domain
from openstack_emulator.identity.routes.validation import Field, description, identifier, name

GROUPS = Entity(
    Group,
    lambda identity: identity.groups,
    "group",
    "groups",
    {
        "name": Field(name, required=True),
        "domain_id": Field(identifier),
        "description": Field(description, default=""),
    },
    prepare=fill_domain,
    subject={"domain_id": "domain_id"},
    filters=("name", "domain_id"),
    extra=True,
    fixed=frozenset({"domain_id"}),
)
