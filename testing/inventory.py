"""A database with the resources of many projects, as those who search for objects find it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, insert, text

from stoker.base.ids import new_id
from stoker.store.tables import resources, search_terms, stacks

PROJECTS = 10
KINDS = (
    "OS::Nova::Server", "OS::Neutron::Port", "OS::Cinder::Volume", "OS::Neutron::Net", "OS::Neutron::Subnet",
    "OS::Neutron::FloatingIP", "OS::Neutron::SecurityGroup", "OS::Nova::KeyPair", "OS::Neutron::Router",
    "OS::Swift::Container",
)  # fmt: skip
_TOGETHER = 5000
_STATISTICS = {"postgresql": "ANALYZE", "mysql": "ANALYZE TABLE resources, search_terms, stacks"}
"""The statements that make the statistics which servers make themselves after a while."""


def fill(connection: Connection, count: int) -> None:
    """Add `count` resources in nested stacks of ten resources each; the projects `p0`, `p1` … take turns.

    The resource of the number N has the object `id-N`, named `object-N`, with the address `address_of(N)`. The last
    digit of N selects its type in `KINDS`, and by this its name.
    """
    rows: dict[Any, list[dict[str, Any]]] = {stacks: [], resources: [], search_terms: []}
    for table, row in _rows(count):
        rows[table].append(row)
        if len(rows[search_terms]) >= _TOGETHER:
            _insert(connection, rows)
    _insert(connection, rows)
    if connection.dialect.name in _STATISTICS:  # Stoker does not make any of a file of SQLite
        connection.execute(text(_STATISTICS[connection.dialect.name]))


def address_of(number: int) -> str:
    """Return the address of the object of a resource."""
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _insert(connection: Connection, rows: dict[Any, list[dict[str, Any]]]) -> None:
    for table, added in rows.items():
        if added:
            connection.execute(insert(table), added)
            added.clear()


def _rows(count: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield tables with their rows."""
    for first in range(0, count, len(KINDS)):
        project, root, below, holder = f"p{first // len(KINDS) % PROJECTS}", new_id(), new_id(), new_id()
        yield stacks, _stack(root, f"stack{first}", project)
        yield resources, _resource(holder, root, "member", "member.yaml", below)
        nested = {"parent_id": root, "parent_resource": holder, "parent_resource_name": "member", "root_id": root}
        yield stacks, {**_stack(below, f"stack{first}-member", project), "live_name": None, "depth": 1, **nested}
        for number, kind in enumerate(KINDS, first):
            uuid = new_id()
            yield resources, _resource(uuid, below, kind.rpartition("::")[2].lower(), kind, f"id-{number}")
            yield search_terms, {"resource_uuid": uuid, "kind": "name", "value": f"object-{number}"}
            yield search_terms, {"resource_uuid": uuid, "kind": "address", "value": address_of(number)}


def _stack(identifier: str, name: str, project: str) -> dict[str, Any]:
    return {
        "id": identifier, "name": name, "live_name": name, "project_id": project, "root_id": identifier, "depth": 0,
        "action": "CREATE", "status": "COMPLETE", "reason": "", "description": "", "created_at": 1.0,
        "disable_rollback": True, "inputs": "i", "changed_directly": False, "parent_id": None, "parent_resource": None,
        "parent_resource_name": None,
    }  # fmt: skip


def _resource(uuid: str, stack_id: str, name: str, kind: str, physical_id: str) -> dict[str, Any]:
    return {
        "uuid": uuid, "stack_id": stack_id, "position": 1, "name": name, "type": kind, "action": "CREATE",
        "status": "COMPLETE", "reason": "", "physical_id": physical_id, "fingerprint": "", "requires": "[]",
        "created_at": 1.0, "searchable": True,
    }  # fmt: skip
