"""The objects of an emulated cloud: what a stack has left behind is there after its deletion, and was not before."""

from __future__ import annotations

from collections.abc import Collection

from openstack_emulator.core.cloud import Cloud

ObjectKind = tuple[str, str]
"""A service and one of its collections: `("neutron", "ports")`."""

LEFT_ALONE: frozenset[ObjectKind] = frozenset(
    {
        ("neutron", "quotas"),
        ("nova", "quotas"),
        ("cinder", "quotas"),
        ("octavia", "quotas"),
        ("nova", "events"),
        ("swift", "accounts"),
        ("gnocchi", "resources"),
        ("gnocchi", "metrics"),
        ("zun", "images"),
    }
)
"""Collections that keep history, limits or caches rather than objects."""

OUTLIVING: dict[str, frozenset[ObjectKind]] = {
    "OS::Barbican::Order": frozenset({("barbican", "secrets"), ("barbican", "containers")}),
    "OS::Mistral::ExternalResource": frozenset(
        ("mistral", kind) for kind in ("executions", "tasks", "action_executions")
    ),
    "OS::Zaqar::MistralTrigger": frozenset({("keystone", "users")}),
}
"""What types leave on purpose: keys that an order has generated, without which data could not be read any more, the
record of what workflows have done, and the user of the messaging service, who is created when the first trust is."""


def objects(cloud: Cloud, without: Collection[ObjectKind] = ()) -> dict[ObjectKind, set[str]]:
    """Return the IDs of all objects of a cloud by their kind, but for those of some kinds."""
    return {
        kind: set(table.ids())
        for kind, table in cloud.store.tables.items()
        if not table.internal and kind not in LEFT_ALONE and kind not in without
    }


def naming(cloud: Cloud, identifiers: Collection[str]) -> set[str]:
    """Return the IDs of the objects that name some others, directly or not, such as the rules of a security group."""
    texts = {record.id: repr(record) for table in cloud.store.tables.values() if not table.internal for record in table}
    known, last = set[str](), set(identifiers)
    while last:
        last = {
            key for key, text in texts.items() if key not in known and any(identifier in text for identifier in last)
        }
        known |= last
    return known
