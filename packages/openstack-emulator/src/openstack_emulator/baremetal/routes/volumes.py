"""Volumes of nodes over HTTP: connectors and targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openstack_emulator.baremetal.routes.nodes import node_of
from openstack_emulator.baremetal.routes.patches import patched
from openstack_emulator.baremetal.routes.requests import list_response, new_key, single
from openstack_emulator.baremetal.rules.access import ADMINISTRATORS, OBSERVERS, require, require_path_version
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.fields import ObjectKind
from openstack_emulator.baremetal.rules.kinds import VOLUME_CONNECTOR, VOLUME_TARGET
from openstack_emulator.baremetal.rules.volumes import Volumes
from openstack_emulator.baremetal.views import links
from openstack_emulator.core.http import Request, Response

SINCE = (1, 32)


@dataclass(frozen=True)
class Handlers:
    """The handlers of a kind. `rules` finds its rules in the service."""

    kind: ObjectKind
    rules: Callable[[BareMetal], Volumes[Any]]

    def create(self, service: BareMetal, request: Request) -> Response:
        require_path_version(request, SINCE)
        require(request, "baremetal:volume:create", *ADMINISTRATORS)
        rules, values = self.rules(service), self.kind.values(request.version, request.json)
        return single(request, self.kind, rules.create(new_key(request, rules.rows), values), 201)

    def index(self, service: BareMetal, request: Request) -> Response:
        require_path_version(request, SINCE)
        require(request, "baremetal:volume:list_all", *OBSERVERS)
        rows = list(self.rules(service).rows)
        if (key := request.query.get("node")) is not None:
            node = service.nodes.reach(request, key)
            rows = [row for row in rows if row.node_uuid == node.uuid]
        return list_response(request, self.kind, rows)

    def index_of_node(self, service: BareMetal, request: Request) -> Response:
        require_path_version(request, SINCE)
        node = node_of(service, request)
        return list_response(request, self.kind, self.rules(service).rows.select(node_uuid=node.uuid))

    def show(self, service: BareMetal, request: Request) -> Response:
        require_path_version(request, SINCE)
        require(request, "baremetal:volume:get", *OBSERVERS)
        return single(request, self.kind, self.rules(service).find(request.vars["key"]))

    def update(self, service: BareMetal, request: Request) -> Response:
        require_path_version(request, SINCE)
        require(request, "baremetal:volume:update", *ADMINISTRATORS)
        rules = self.rules(service)
        row = rules.find(request.vars["key"])
        rules.change(row, patched(request, self.kind, row))
        return single(request, self.kind, row)

    def delete(self, service: BareMetal, request: Request) -> Response:
        require_path_version(request, SINCE)
        require(request, "baremetal:volume:delete", *ADMINISTRATORS)
        rules = self.rules(service)
        rules.delete(rules.find(request.vars["key"]))
        return Response(status=204)


CONNECTORS = Handlers(VOLUME_CONNECTOR, lambda service: service.connectors)
TARGETS = Handlers(VOLUME_TARGET, lambda service: service.targets)


def _collections(request: Request, prefix: str) -> Response:
    """The links of the collections of connectors and of targets below a path, without a slash at the end."""
    paths = {kind.path.rpartition("/")[2]: f"{prefix}{kind.path}" for kind in (VOLUME_CONNECTOR, VOLUME_TARGET)}
    collections = {
        name: [{key: value.rstrip("/") for key, value in link.items()} for link in links(request, path, "")]
        for name, path in paths.items()
    }
    return Response({**collections, "links": links(request, f"{prefix}volume", "")})


def show_collections(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    return _collections(request, "")


def show_collections_of_node(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    return _collections(request, f"nodes/{node_of(service, request).uuid}/")
