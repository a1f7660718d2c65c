"""Volumes of nodes: connectors, by which a node reaches a storage network, and targets, the volumes themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from openstack_emulator.baremetal.http import (
    ADMINISTRATORS,
    OBSERVERS,
    TIMESTAMP,
    Kind,
    links,
    listed,
    needs,
    new_key,
    require,
    single,
)
from openstack_emulator.baremetal.kinds import VOLUME_CONNECTOR, VOLUME_TARGET
from openstack_emulator.baremetal.nodes import Nodes, require_unlocked
from openstack_emulator.baremetal.patching import patched
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, Routes
from openstack_emulator.core.component import Component, merged, using
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection, Record

SINCE = (1, 32)
_UNIQUE: Mapping[Kind, tuple[str, ...]] = {VOLUME_CONNECTOR: ("type", "connector_id"), VOLUME_TARGET: ("boot_index",)}
"""Fields of which no two objects may have the same values: connectors of all nodes, targets of one node."""


_WORDS = {"connector_id": "connector ID"}


class Volumes(Component):
    """All connectors and targets."""

    def __init__(self, records: Records, nodes: Nodes) -> None:
        super().__init__(records)
        self.nodes = nodes
        self._rows = {
            kind: records.collection(
                f"volume_{kind.path.rpartition('/')[2]}", ("node_uuid",), _missing(kind.title.capitalize())
            )
            for kind in _UNIQUE
        }

    def rows(self, kind: Kind) -> Collection:
        """The objects of a kind."""
        return self._rows[kind]

    def find(self, kind: Kind, key: str) -> Record:
        """An object by its UUID. Raises ApiError 400 and 404."""
        if fields.identifier(key) is not None:
            raise bad_request(f"Expected a UUID but received {key}.")
        return self.rows(kind).require(key)

    def now(self) -> str:
        return self.records.timestamp(TIMESTAMP)

    def forget_node(self, node_uuid: str) -> None:
        """Remove the connectors and targets of a node."""
        for collection in self._rows.values():
            for row in collection.select(node_uuid=node_uuid):
                collection.remove(row)

    def check(self, kind: Kind, wanted: Record) -> None:
        """Refuse an object with an unknown node (400), or like another one (409)."""
        if self.nodes.rows.get(wanted["node_uuid"]) is None:
            raise bad_request(f"Node {wanted['node_uuid']} could not be found.")
        names = _UNIQUE[kind] if kind is VOLUME_CONNECTOR else ("node_uuid", *_UNIQUE[kind])
        for row in self.rows(kind):
            if row["uuid"] != wanted["uuid"] and all(row[name] == wanted[name] for name in names):
                same = " and ".join(f"{_WORDS.get(name, name)} {wanted[name]}" for name in names)
                raise conflict(f"A {kind.title} with {same} already exists.")

    def require_off(self, kind: Kind, row: Record, action: str) -> None:
        """Refuse an action on an object whose node is not powered off. Raises ApiError 400 and 409."""
        node = self.nodes.rows.require(row["node_uuid"])
        require_unlocked(node)
        if node["power_state"] not in (None, "power off"):
            raise bad_request(
                f'The requested action "{kind.title} {action}" can not be performed on node "{node["uuid"]}" while it '
                f'is in state "{node["power_state"]}".'
            )


def _missing(title: str) -> Callable[[str], ApiError]:
    return lambda key: not_found(f"{title} {key} could not be found.")


@dataclass(frozen=True)
class _Handlers:
    """The handlers of a kind."""

    kind: Kind

    def create(self, volumes: Volumes, request: Request) -> Response:
        needs(request, SINCE)
        require(request, "baremetal:volume:create", *ADMINISTRATORS)
        values, key = self.kind.values(request), new_key(request, volumes.rows(self.kind))
        made = {**values, "uuid": key, "id": key, "created_at": volumes.now(), "updated_at": None}
        volumes.check(self.kind, made)
        return single(request, self.kind, volumes.rows(self.kind).add(made), 201)

    def index(self, volumes: Volumes, request: Request) -> Response:
        needs(request, SINCE)
        require(request, "baremetal:volume:list_all", *OBSERVERS)
        rows = list(volumes.rows(self.kind))
        if (key := request.query.get("node")) is not None:
            node = volumes.nodes.reach(request, key)
            rows = [row for row in rows if row["node_uuid"] == node["uuid"]]
        return listed(request, self.kind, rows)

    def index_of_node(self, volumes: Volumes, request: Request) -> Response:
        needs(request, SINCE)
        node = volumes.nodes.reach(request, request.vars["node"])
        return listed(request, self.kind, volumes.rows(self.kind).select(node_uuid=node["uuid"]))

    def show(self, volumes: Volumes, request: Request) -> Response:
        needs(request, SINCE)
        require(request, "baremetal:volume:get", *OBSERVERS)
        return single(request, self.kind, volumes.find(self.kind, request.vars["key"]))

    def update(self, volumes: Volumes, request: Request) -> Response:
        needs(request, SINCE)
        require(request, "baremetal:volume:update", *ADMINISTRATORS)
        row = volumes.find(self.kind, request.vars["key"])
        changes = patched(request, self.kind, row)
        volumes.require_off(self.kind, row, "update")
        volumes.check(self.kind, {**row, **changes})
        volumes.rows(self.kind).update(row, **changes, updated_at=volumes.now())
        return single(request, self.kind, row)

    def delete(self, volumes: Volumes, request: Request) -> Response:
        needs(request, SINCE)
        require(request, "baremetal:volume:delete", *ADMINISTRATORS)
        row = volumes.find(self.kind, request.vars["key"])
        volumes.require_off(self.kind, row, "deletion")
        volumes.rows(self.kind).remove(row)
        return Response(status=204)

    def routes(self) -> Routes:
        path = f"/{self.kind.path}"
        return using(
            Volumes,
            {
                path: {"GET": self.index, "POST": self.create},
                f"{path}/{{key}}": {"GET": self.show, "PATCH": self.update, "DELETE": self.delete},
                f"/nodes/{{node}}{path}": {"GET": self.index_of_node},
            },
        )


def _places(request: Request, prefix: str) -> Response:
    named = {kind.path.rpartition("/")[2]: f"{prefix}{kind.path}" for kind in _UNIQUE}
    shown = {name: [link | {"href": link["href"].rstrip("/")} for link in links(request, place, "")]
             for name, place in named.items()}  # fmt: skip
    return Response({**shown, "links": links(request, f"{prefix}volume", "")})


def show_places(volumes: Volumes, request: Request) -> Response:
    needs(request, SINCE)
    return _places(request, "")


def show_places_of_node(volumes: Volumes, request: Request) -> Response:
    needs(request, SINCE)
    node = volumes.nodes.reach(request, request.vars["node"])
    return _places(request, f"nodes/{node['uuid']}/")


VOLUME_ROUTES = merged(
    *(_Handlers(kind).routes() for kind in _UNIQUE),
    using(Volumes, {"/volume": {"GET": show_places}, "/nodes/{node}/volume": {"GET": show_places_of_node}}),
)
