"""Resources and their types. Those of the type `instance` are the servers of the compute service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.emulator.core.cloud import Records
from stoker.emulator.core.component import Component
from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.http import Context, Request
from stoker.emulator.core.search import Predicate, predicate
from stoker.emulator.core.store import Record
from stoker.emulator.metric.metrics import Metrics
from stoker.emulator.metric.types import check_values

GENERIC, INSTANCE = "generic", "instance"
_OWN = ("id", "type", "project_id", "user_id", "started_at", "ended_at", "revision_start", "revision_end",
        "original_resource_id", "creator", "created_by_project_id")  # fmt: skip
"""Fields of a resource of every type."""
TYPES: Mapping[str, tuple[str, ...]] = {
    GENERIC: (),
    INSTANCE: ("display_name", "host", "image_ref", "flavor_id", "flavor_name", "server_group", "created_at",
               "launched_at", "deleted_at"),
    "image": ("name", "container_format", "disk_format"),
    "volume": ("display_name", "volume_type", "image_id", "instance_id"),
    "instance_disk": ("name", "instance_id"),
    "instance_network_interface": ("name", "instance_id"),
    "network": (),
    "loadbalancer": (),
    "stack": (),
}  # fmt: skip
"""The attributes of each type of a new cloud."""
INSTANCE_METRICS = {
    "cpu": ("ns", "ceilometer-low-rate"),
    "cpu_util": ("%", "ceilometer-low"),
    "memory": ("MB", "ceilometer-low"),
    "memory.usage": ("MB", "ceilometer-low"),
    "vcpus": ("vcpu", "ceilometer-low"),
}
"""Unit and archive policy of the metrics that every server has."""
SERVER_GROUP = "metering.server_group"
"""The metadata of servers that Ceilometer makes the attribute server_group."""


class Resources(Component):
    """Resources: `{id, type, project_id, user_id, started_at, ended_at, …}` and the attributes of their type."""

    def __init__(self, records: Records, metrics: Metrics) -> None:
        super().__init__(records)
        self.rows = records.collection("resources", ("type", "project_id"), missing=_missing)
        self.types = records.collection("resource_types", missing=_missing_type)
        self.metrics = metrics

    def seed(self) -> None:
        for name, attributes in TYPES.items():
            described = {
                key: {"type": "string", "required": False, "min_length": 0, "max_length": 255} for key in attributes
            }
            self.types.add({"id": name, "attributes": described})

    def follow_servers(self) -> None:
        """Make the resources of type `instance` those of the cloud's servers; deleted servers' have ended."""
        servers = self.cloud.collection_of("nova", "servers")
        if servers is None:
            return
        for server in servers:
            known = self.rows.get(server["id"])
            if known is None:
                self._add_instance(server)
            elif (group := server["metadata"].get(SERVER_GROUP)) != known.get("server_group"):
                self.rows.update(known, server_group=group)
        for resource in self.rows.select(type=INSTANCE, ended_at=None):
            if resource.get("_server") and resource["id"] not in servers:
                self.rows.update(resource, ended_at=self.moment(), deleted_at=self.moment())

    def _add_instance(self, server: Record) -> None:
        flavor = server.get("flavor") or {}
        resource = self.rows.add(
            {
                **dict.fromkeys(TYPES[INSTANCE]),
                "id": server["id"],
                "type": INSTANCE,
                "project_id": server["project_id"],
                "user_id": server["user_id"],
                "started_at": server["created"],
                "ended_at": None,
                "display_name": server.get("name"),
                "host": server.get("host"),
                "image_ref": server.get("image_id"),
                "flavor_id": flavor.get("id"),
                "flavor_name": flavor.get("name"),
                "server_group": server["metadata"].get(SERVER_GROUP),
                "created_at": server["created"],
                "launched_at": server.get("launched_at"),
                "_server": True,
            }
        )
        for name, (unit, policy) in INSTANCE_METRICS.items():
            wanted = {"name": name, "unit": unit, "archive_policy_name": policy}
            self.metrics.create(wanted, server["project_id"], server["user_id"], resource)

    def find(self, context: Context, kind: str, key: str) -> Record:
        """Return a resource of a type that the caller may see. Raises ApiError."""
        self.types.require(kind)
        self.follow_servers()
        resource = self.rows.require(key)
        if kind not in (GENERIC, resource["type"]):
            raise _missing(key)
        if not context.may_see(resource):
            raise ApiError(403, "Insufficient privileges")
        return resource

    def select(self, kind: str, expression: Any, project: str | None) -> list[Record]:
        """Return the resources of a type that an expression selects, of one project or of all (None).

        Raises ApiError 400, and 404 for an unknown type.
        """
        self.follow_servers()
        chosen = self.predicate(kind, expression)
        equals: dict[str, Any] = {} if kind == GENERIC else {"type": kind}
        if project is not None:
            equals["project_id"] = project
        return [resource for resource in self.rows.select(**equals) if chosen(resource)]

    def predicate(self, kind: str, expression: Any) -> Predicate:
        """Return the function of an expression over the attributes of a type. Raises ApiError."""
        known = {*_OWN, *self.types.require(kind)["attributes"]}

        def read(resource: Record, field: str) -> Any:
            return resource.get("project_id" if field == "created_by_project_id" else field)

        for field in _fields(expression):
            if field not in known:
                raise bad_request(f"Resource type {kind} has no {field} attribute")
        return predicate(expression, read)

    def create(self, kind: str, request: Request) -> Record:
        """Create the resource that a request describes, with its metrics. Raises ApiError."""
        context, body = request.context, request.json
        attributes = self.types.require(kind)["attributes"]
        if not isinstance(body, dict) or not isinstance(body.get("id"), str) or not body["id"]:
            raise bad_request("Invalid input: required key not provided @ data['id']")
        if body["id"] in self.rows:
            raise conflict(f"Resource {body['id']} already exists")
        self._check(body, attributes, complete=True)
        if body.get("project_id") not in (None, context.project_id) and not context.is_admin:
            raise ApiError(403, "Insufficient privileges")
        project = body.get("project_id", context.project_id)
        self._check_metrics(project, body.get("metrics") or {}, None)
        values = {key: value for key, value in body.items() if key != "metrics"}
        resource = self.rows.add(
            {
                **dict.fromkeys(attributes),
                "type": kind,
                "project_id": context.project_id,
                "user_id": context.user_id,
                "started_at": self.moment(),
                "ended_at": None,
                **values,
            }
        )
        self._add_metrics(resource, body.get("metrics") or {})
        return resource

    def change(self, resource: Record, request: Request) -> None:
        """Set attributes of a resource, and add metrics. Raises ApiError."""
        body = request.json
        if not isinstance(body, dict):
            raise bad_request("The request body must be a JSON object.")
        self._check({**body, "id": resource["id"]}, self.types.require(resource["type"])["attributes"], complete=False)
        self._check_metrics(resource["project_id"], body.get("metrics") or {}, resource)
        self.rows.update(
            resource, **{key: value for key, value in body.items() if key not in ("metrics", "id", "type")}
        )
        self._add_metrics(resource, body.get("metrics") or {})

    def remove(self, resource: Record) -> None:
        """Remove a resource with its metrics."""
        for metric in self.metrics.of(resource).values():
            self.metrics.remove(metric)
        self.rows.remove(resource)

    def change_type(self, kind: Record, attributes: Mapping[str, Any], filled: Mapping[str, Any]) -> None:
        """Replace the attributes of a type; resources get the values `filled` of new ones, and lose removed ones."""
        gone = kind["attributes"].keys() - attributes.keys()
        self.types.update(kind, attributes=dict(attributes))
        for resource in self.rows.select(type=kind["id"]):
            for name in gone:
                resource.pop(name, None)
            self.rows.update(resource, **filled)

    def _check(self, body: Record, attributes: Mapping[str, Any], complete: bool) -> None:
        allowed = {"id", "project_id", "user_id", "started_at", "ended_at", "metrics", *attributes}
        if unknown := sorted(body.keys() - allowed):
            raise bad_request(f"Invalid input: extra keys not allowed @ data['{unknown[0]}']")
        check_values(body, attributes, complete)
        metrics = body.get("metrics")
        if metrics is not None and not (
            isinstance(metrics, dict) and all(isinstance(one, str | dict) for one in metrics.values())
        ):
            raise bad_request("Invalid input: metrics must be an object of metrics by name.")

    def _check_metrics(self, project: str | None, wanted: Mapping[str, Any], resource: Record | None) -> None:
        """Raise ApiError unless `_add_metrics` can add all of the metrics to a resource, or to a new one."""
        for name, metric in wanted.items():
            if not isinstance(metric, str):
                self.metrics.accept({**metric, "name": name}, resource)
            elif self.metrics.rows.require(metric)["project_id"] != project:
                raise self.metrics.rows.missing(metric)

    def _add_metrics(self, resource: Record, wanted: Mapping[str, Any]) -> None:
        for name, metric in wanted.items():
            if isinstance(metric, str):
                known = self.metrics.rows.require(metric)
                self.metrics.rows.update(known, resource_id=resource["id"], name=name)
            else:
                given = {**metric, "name": name}
                self.metrics.create(given, resource["project_id"], resource["user_id"], resource)

    def view(self, resource: Record) -> dict[str, Any]:
        """Return a resource as clients see it."""
        shown = {key: value for key, value in resource.items() if not key.startswith("_")}
        return {
            **shown,
            "original_resource_id": resource["id"],
            "revision_start": resource["started_at"],
            "revision_end": None,
            "creator": f"{resource['user_id']}:{resource['project_id']}",
            "created_by_user_id": resource["user_id"],
            "created_by_project_id": resource["project_id"],
            "metrics": {name: metric["id"] for name, metric in self.metrics.of(resource).items()},
        }


def _fields(expression: Any) -> list[str]:
    """Return the names of the fields in an expression."""
    if isinstance(expression, list):
        return [name for part in expression for name in _fields(part)]
    if not isinstance(expression, Mapping):
        return []
    found = []
    for operator, argument in expression.items():
        if operator in ("and", "or", "not"):
            found += _fields(argument)
        elif isinstance(argument, Mapping):
            found += list(argument)
    return found


def _missing(key: str) -> ApiError:
    return not_found(f"Resource {key} does not exist")


def _missing_type(key: str) -> ApiError:
    return not_found(f"Resource type {key} does not exist")
