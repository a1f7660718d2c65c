"""Volumes of nodes: connectors, by which a node reaches a storage network, and targets, the volumes themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from openstack_emulator.baremetal.records import NodeVolume
from openstack_emulator.baremetal.rules.access import require_unlocked
from openstack_emulator.baremetal.rules.nodes import Nodes
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.validation import fields

V = TypeVar("V", bound=NodeVolume)
_WORDS = {"connector_id": "connector ID"}


class Volumes(Rules, Generic[V]):
    """All objects of a class: connectors or targets.

    title: what messages call an object.
    unique: fields of which no two objects may have the same values.
    """

    def __init__(
        self, records: Records, nodes: Nodes, kind: type[V], name: str, title: str, unique: Sequence[str]
    ) -> None:
        super().__init__(records)
        self._nodes, self._kind, self._title, self._unique = nodes, kind, title, unique
        self.rows = records.table(
            name, kind, "node_uuid", missing=lambda key: not_found(f"{title.capitalize()} {key} could not be found.")
        )

    def find(self, key: str) -> V:
        """An object by its UUID. Raises ApiError 400 and 404."""
        if fields.identifier(key) is not None:
            raise bad_request(f"Expected a UUID but received {key}.")
        return self.rows.require(key)

    def create(self, key: str, values: Mapping[str, Any]) -> V:
        """Add an object with the fields of a request. Raises ApiError 400 and 409."""
        volume = self._kind(id=key, uuid=key, created_at=self._nodes.now(), updated_at=None, **values)
        self._check(volume)
        return self.rows.add(volume)

    def change(self, row: V, changes: Mapping[str, Any]) -> None:
        """Set fields of an object as a request wants them. Raises ApiError 400 and 409."""
        self._require_off(row, "update")
        self._check(replace(row, **changes))
        self.rows.update(row, **changes, updated_at=self._nodes.now())

    def delete(self, row: V) -> None:
        """Remove an object. Raises ApiError 400 and 409."""
        self._require_off(row, "deletion")
        self.rows.remove(row)

    def forget_node(self, node_uuid: str) -> None:
        """Remove what a node has."""
        for row in self.rows.select(node_uuid=node_uuid):
            self.rows.remove(row)

    def _check(self, volume: V) -> None:
        """Refuse an object with an unknown node (400), or like another one (409)."""
        if self._nodes.rows.get(volume.node_uuid) is None:
            raise bad_request(f"Node {volume.node_uuid} could not be found.")
        values = {name: volume.get(name) for name in self._unique}
        for row in self.rows:
            if row.uuid != volume.uuid and all(row.get(name) == value for name, value in values.items()):
                same = " and ".join(f"{_WORDS.get(name, name)} {value}" for name, value in values.items())
                raise conflict(f"A {self._title} with {same} already exists.")

    def _require_off(self, row: V, action: str) -> None:
        """Refuse an action on an object whose node is not powered off. Raises ApiError 400 and 409."""
        node = self._nodes.rows.require(row.node_uuid)
        require_unlocked(node)
        if node.power_state not in (None, "power off"):
            raise bad_request(
                f'The requested action "{self._title} {action}" can not be performed on node "{node.uuid}" while it '
                f'is in state "{node.power_state}".'
            )
