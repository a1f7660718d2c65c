"""Resources and their types. Those of the type `instance` are the servers of the compute service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.search import OPERATORS, Predicate, predicate
from openstack_emulator.core.store import Record
from openstack_emulator.metric.bodies import Check, Invalid, anything, check_fields, invalid, nullable, timestamp
from openstack_emulator.metric.filters import expression_of
from openstack_emulator.metric.metrics import Metrics, creation, owners
from openstack_emulator.metric.types import check_values, kept_values

GENERIC, INSTANCE = "generic", "instance"
_OWN = ("id", "type", "project_id", "user_id", "started_at", "ended_at", "revision_start", "revision_end",
        "original_resource_id", "creator", "created_by_project_id", "created_by_user_id")  # fmt: skip
"""Fields of a resource of every type."""
SHOWN = ("id", "type", "project_id", "user_id", "started_at", "ended_at", "original_resource_id")
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
_NAMESPACE = UUID("8f2b6c0e-6f55-4b0c-9d0c-6a1d3f0b7a52")
SERVER_GROUP = "metering.server_group"
"""The metadata of servers that Ceilometer makes the attribute server_group."""


class Resources(Component):
    """Resources: `{id, type, project_id, user_id, started_at, ended_at, …}` and the attributes of their type."""

    def __init__(self, records: Records, metrics: Metrics) -> None:
        super().__init__(records)
        self.rows = records.collection("resources", ("type", "project_id"), missing=_missing)
        self.types = records.collection("resource_types", missing=_missing_type)
        self.metrics = metrics
        records.deferrable(self.measure)

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

    def measure(self, server_id: str, values: Mapping[str, float]) -> None:
        """Add measures of a server, by the names of its metrics."""
        self.follow_servers()
        resource = self.rows.get(server_id)
        if resource is None:
            return
        for name, value in values.items():
            metric = self.metrics.named(resource, name)
            if metric is not None:
                self.metrics.add_measures(metric, [[self.cloud.clock.now(), value]])

    def _add_instance(self, server: Record) -> None:
        flavor = server.get("flavor") or {}
        resource = self.rows.add(
            {
                **dict.fromkeys(TYPES[INSTANCE]),
                "id": server["id"],
                "original_resource_id": server["id"],
                "type": INSTANCE,
                "project_id": server["project_id"],
                "user_id": server["user_id"],
                "created_by_project_id": server["project_id"],
                "created_by_user_id": server["user_id"],
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
        measured = self.cloud.guests.metering_interval is not None
        for name, (unit, policy) in INSTANCE_METRICS.items():
            policy = policy.replace("-low", "-high") if measured else policy  # Ceilometer measures every five minutes
            wanted = {"name": name, "unit": unit, "archive_policy_name": policy}
            self.metrics.create(wanted, server["project_id"], server["user_id"], resource)

    def find(self, context: Context, kind: str, key: str) -> Record:
        """Return a resource of a type that the caller may see. Raises ApiError."""
        self.types.require(kind)
        self.follow_servers()
        resource = self.rows.get(resource_id(key, context.user_id, context.project_id))
        if resource is None or kind not in (GENERIC, resource["type"]):
            raise _missing(key)
        if not context.is_admin and context.project not in owners(resource):
            raise ApiError(403, "Insufficient privileges")
        return resource

    def select(self, kind: str, expression: Any, project: str | None) -> list[Record]:
        """Return the resources of a type that an expression selects, of one project or of all (None).

        Raises ApiError 400, and 404 for an unknown type.
        """
        self.follow_servers()
        chosen = self.predicate(kind, expression)
        candidates = self.rows if kind == GENERIC else self.rows.select(type=kind)
        return [resource for resource in candidates if project in (None, *owners(resource)) and chosen(resource)]

    def predicate(self, kind: str, expression: Any) -> Predicate:
        """Return the function of an expression over the attributes of a type. Raises ApiError."""
        known = {*_OWN, *self.types.require(kind)["attributes"]}
        expression = _by_any_id(expression_of(expression) if isinstance(expression, str) else expression)

        def read(resource: Record, field: str) -> Any:
            return creation(resource)["creator"] if field == "creator" else resource.get(field)

        for field in _fields(expression):
            if field not in known:
                raise bad_request(f"Resource type {kind} has no {field} attribute")
        return predicate(expression, read)

    def create(self, kind: str, request: Request) -> Record:
        """Create the resource that a request describes, with its metrics. Raises ApiError."""
        context, body = request.context, request.json
        attributes = self.types.require(kind)["attributes"]
        self._check(body, {"id": _identifier, **check_values(attributes)}, ["id", *_required(attributes)])
        key = resource_id(body["id"], context.user_id, context.project_id)
        if key in self.rows:
            raise conflict(f"Resource {key} already exists")
        if body.get("project_id") not in (None, context.project_id) and not context.is_admin:
            raise ApiError(403, "Insufficient privileges")
        started, ended = (_shown_time(body.get(name)) for name in ("started_at", "ended_at"))
        started = started or self.moment()
        if ended is not None and _time(ended) < _time(started):
            raise bad_request("Start timestamp cannot be after end timestamp")
        self._check_metrics(context.project_id, body.get("metrics") or {}, None)
        values = {name: value for name, value in body.items() if name != "metrics"} | kept_values(body, attributes)
        resource = self.rows.add(
            {
                **dict.fromkeys(attributes),
                "type": kind,
                "project_id": None,
                "user_id": None,
                **values,
                "id": key,
                "original_resource_id": body["id"],
                "started_at": started,
                "ended_at": ended,
                "created_by_project_id": context.project_id,
                "created_by_user_id": context.user_id,
            }
        )
        self._add_metrics(resource, body.get("metrics") or {}, context)
        return resource

    def change(self, resource: Record, request: Request) -> None:
        """Set attributes of a resource, and add metrics. Raises ApiError."""
        body, attributes = request.json, self.types.require(resource["type"])["attributes"]
        self._check(body, check_values(attributes), ())
        for name in _required(attributes):
            if name in body and body[name] is None:
                raise bad_request(f"Value None for attribute {name} on resource type {resource['type']} is invalid")
        ended = _shown_time(body.get("ended_at"))
        if ended is not None and _time(ended) < _time(resource["started_at"]):
            shown = _time(ended).isoformat(" ")
            raise bad_request(f"Value {shown} for attribute ended_at on resource type {resource['type']} is invalid")
        self.add_metrics(resource, body.get("metrics") or {}, request.context)
        changed = {name: value for name, value in body.items() if name != "metrics"} | kept_values(body, attributes)
        self.rows.update(resource, **changed, **({"ended_at": ended} if ended else {}))

    def add_metrics(self, resource: Record, wanted: Mapping[str, Any], context: Context) -> None:
        """Add metrics by name to a resource, all or none. Raises ApiError."""
        check_fields({"metrics": wanted}, {"metrics": _metrics})
        self._check_metrics(context.project_id, wanted, resource)
        self._add_metrics(resource, wanted, context)

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

    def _check(self, body: Any, attributes: Mapping[str, Check], required: Iterable[str]) -> None:
        known: dict[str, Check] = {
            "project_id": anything,
            "user_id": anything,
            "started_at": timestamp,
            "ended_at": nullable(timestamp),
            "metrics": _metrics,
        }
        needed = tuple(required)
        fields = {name: check if name in needed else nullable(check) for name, check in attributes.items()}
        check_fields(body, {**known, **fields}, needed)

    def _check_metrics(self, project: str | None, wanted: Mapping[str, Any], resource: Record | None) -> None:
        """Raise ApiError unless `_add_metrics` can add all of the metrics to a resource, or to a new one."""
        for name, metric in wanted.items():
            if not isinstance(metric, str):
                self.metrics.accept({**metric, "name": name}, resource)
            elif (known := self.metrics.rows.get(metric)) is None or project not in owners(known):
                raise bad_request(f"Metric {metric} does not exist")

    def _add_metrics(self, resource: Record, wanted: Mapping[str, Any], context: Context) -> None:
        for name, metric in wanted.items():
            if isinstance(metric, str):
                known = self.metrics.rows.require(metric)
                self.metrics.rows.update(known, resource_id=resource["id"], name=name)
            else:
                given = {**metric, "name": name}
                self.metrics.create(given, context.project_id, context.user_id, resource)

    def view(self, resource: Record, kind: str) -> dict[str, Any]:
        """Return a resource as clients see it; as one of the generic type, it has no attributes of its own type."""
        attributes = () if kind == GENERIC else self.types.require(resource["type"])["attributes"]
        return {
            **{name: resource.get(name) for name in (*SHOWN, *attributes)},
            "revision_start": resource["started_at"],
            "revision_end": None,
            **creation(resource),
            "metrics": {name: metric["id"] for name, metric in self.metrics.of(resource).items()},
        }


def resource_id(given: str, user: str, project: str | None) -> str:
    """Return the ID of the resource that a user calls so: a UUID, or one made of the name and its creator."""
    try:
        return str(UUID(given))
    except ValueError:
        return str(uuid5(_NAMESPACE, f"{given}\n{user}:{project}"))


def _identifier(value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise Invalid("not a valid value")
    if "/" in value:
        raise Invalid("'/' is not supported in resource id")


def _metrics(value: Any) -> None:
    if not isinstance(value, dict):
        raise Invalid("expected a dictionary")
    for name, metric in value.items():
        if not isinstance(metric, str | dict):
            raise Invalid("not a valid value for dictionary value", (name,))


def _required(attributes: Mapping[str, Any]) -> list[str]:
    return [name for name, described in attributes.items() if described["required"]]


def _time(value: str) -> datetime:
    parsed = datetime.fromisoformat(value)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _shown_time(value: str | None) -> str | None:
    return None if value is None else _time(value).isoformat()


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


def _by_any_id(expression: Any) -> Any:
    """Return the expression that finds resources by the IDs that they were created with, too."""
    if isinstance(expression, list):
        return [_by_any_id(part) for part in expression]
    if not isinstance(expression, Mapping) or len(expression) != 1:
        return expression
    ((operator, argument),) = expression.items()
    if operator in ("and", "or", "not"):
        return {operator: _by_any_id(argument)}
    if operator not in OPERATORS:
        raise invalid("not a valid value", (operator,))
    if operator in ("=", "==", "eq", "in") and isinstance(argument, Mapping) and argument.keys() == {"id"}:
        return {"or": [expression, {operator: {"original_resource_id": argument["id"]}}]}
    return expression


def _missing(key: str) -> ApiError:
    return not_found(f"Resource {key} does not exist")


def _missing_type(key: str) -> ApiError:
    return not_found(f"Resource type {key} does not exist")
