"""Domains, also as the projects that act as them."""

from __future__ import annotations

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.validation.fields import exact_boolean, optional
from openstack_emulator.identity.records import Domain
from openstack_emulator.identity.routes.entity import Entity, Values, change, options
from openstack_emulator.identity.routes.validation import (
    Field,
    description,
    hex_identifier,
    identifier,
    short_name,
    tags,
)
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.kept import draft
from openstack_emulator.identity.views import domain_project_view

OPTIONS = Field(options(immutable=exact_boolean), default={})
FIELDS = {
    "name": Field(short_name, required=True),
    "description": Field(description, default=""),
    "enabled": Field(exact_boolean, default=True),
    "options": OPTIONS,
    "tags": Field(tags, default=[]),
    "explicit_domain_id": Field(hex_identifier),
}


def create(entity: Entity[Domain], identity: Identity, values: Values) -> Domain:
    """A domain, with the ID that the request may give."""
    key = values.pop("explicit_domain_id", None) or new_hex_id()
    return identity.domains.create(draft(Domain, key, values))


DOMAINS = Entity(
    Domain,
    lambda identity: identity.domains,
    "domain",
    "domains",
    FIELDS,
    create=create,
    subject={"domain_id": "id"},
    filters=("name", "enabled"),
    extra=True,
    fixed=frozenset({"explicit_domain_id"}),
)
OF_PROJECTS = frozenset({"domain_id", "parent_id", "is_domain"})
"""Fields that domains have only as projects."""


def create_as_project(entity: Entity[Domain], identity: Identity, values: Values) -> Domain:
    """A domain, by way of the project that acts as it."""
    if values.get("domain_id") is not None or values.get("parent_id") is not None:
        raise bad_request("A project that acts as a domain has neither a domain nor a parent.")
    return create(entity, identity, _without_project_domains(values))


def change_as_project(entity: Entity[Domain], identity: Identity, domain: Domain, changes: Values) -> None:
    """A domain, by way of the project that acts as it."""
    change(entity, identity, domain, _without_project_domains(changes))


def _without_project_domains(values: Values) -> Values:
    return {name: value for name, value in values.items() if name not in OF_PROJECTS}


DOMAIN_PROJECTS = Entity(
    Domain,
    lambda identity: identity.domains,
    "project",
    "projects",
    {
        **FIELDS,
        "domain_id": Field(optional(identifier), default=None),
        "parent_id": Field(optional(identifier), default=None),
        "is_domain": Field(exact_boolean, default=False),
    },
    create=create_as_project,
    change=change_as_project,
    subject={"domain_id": "id", "project_id": "id"},
    view=domain_project_view,
    filters=("name", "enabled", "tags"),
    extra=True,
    fixed=OF_PROJECTS | {"explicit_domain_id"},
)
"""Domains as the projects that act as them: the same records seen from another side."""
