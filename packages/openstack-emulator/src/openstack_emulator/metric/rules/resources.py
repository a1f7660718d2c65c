"""Resources: what metrics are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID, uuid5

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.search import OPERATORS, predicate
from openstack_emulator.core.store import Table
from openstack_emulator.metric.records import Metric, Resource, ResourceType
from openstack_emulator.metric.rules.filters import expression_of
from openstack_emulator.metric.rules.inputs import NamedMetrics, NewMetric, NewResource, ResourceChange, time_of
from openstack_emulator.metric.rules.metrics import Metrics
from openstack_emulator.metric.rules.servers import Servers
from openstack_emulator.metric.rules.types import GENERIC, ResourceTypes, required
from openstack_emulator.metric.rules.validation import invalid

_OWN = ("id", "type", "project_id", "user_id", "started_at", "ended_at", "revision_start", "revision_end",
        "original_resource_id", "creator", "created_by_project_id", "created_by_user_id")  # fmt: skip
"""Fields of a resource of every type."""
_NAMESPACE = UUID("8f2b6c0e-6f55-4b0c-9d0c-6a1d3f0b7a52")


def resource_table(records: Records) -> Table[Resource]:
    """The table of resources, which several classes of rules use."""
    return records.table("resources", Resource, "type", "project_id", missing=_missing)


class Resources(Rules):
    """The resources of all projects."""

    def __init__(
        self, records: Records, rows: Table[Resource], types: ResourceTypes, metrics: Metrics, servers: Servers
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self._types = types
        self._metrics = metrics
        self._servers = servers

    def find(self, context: Context, kind: str, key: str) -> Resource:
        """A resource of a type that the caller may see. Raises ApiError 404 and 403."""
        self._types.require(kind)
        self._servers.follow()
        resource = self.rows.get(resource_id(key, context.user_id, context.project_id))
        if resource is None or kind not in (GENERIC, resource.type):
            raise _missing(key)
        if not context.is_admin and context.project not in resource.owners:
            raise ApiError(403, "Insufficient privileges")
        return resource

    def known(self, context: Context, key: str) -> Resource | None:
        """A resource of any type; None if there is none. Raises ApiError 403."""
        try:
            return self.find(context, GENERIC, key)
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    def select(self, kind: str, expression: object, project: str | None) -> list[Resource]:
        """The resources of a type that an expression selects, of one project or of all (None).

        Raises ApiError 400, and 404 for an unknown type.
        """
        self._servers.follow()
        chosen = self._predicate(kind, expression)
        candidates = self.rows if kind == GENERIC else self.rows.select(type=kind)
        return [resource for resource in candidates if project in (None, *resource.owners) and chosen(resource)]

    def _predicate(self, kind: str, expression: object) -> Callable[[Resource], bool]:
        """The function of an expression over the attributes of a type. Raises ApiError."""
        known = {*_OWN, *self._types.require(kind).attributes}
        expression = _by_any_id(expression_of(expression) if isinstance(expression, str) else expression)

        def read(resource: Resource, field: str) -> Any:
            return resource.creator if field == "creator" else resource.get(field)

        for field in _fields(expression):
            if field not in known:
                raise bad_request(f"Resource type {kind} has no {field} attribute")
        return predicate(expression, read)

    def create(self, context: Context, kind: ResourceType, new_resource: NewResource) -> Resource:
        """Create a resource with its metrics. Raises ApiError."""
        key = resource_id(new_resource.id, context.user_id, context.project_id)
        if key in self.rows:
            raise conflict(f"Resource {key} already exists")
        if new_resource.project_id not in (None, context.project_id) and not context.is_admin:
            raise ApiError(403, "Insufficient privileges")
        started = new_resource.started_at or self.moment()
        if new_resource.ended_at is not None and time_of(new_resource.ended_at) < time_of(started):
            raise bad_request("Start timestamp cannot be after end timestamp")
        metrics = self._accepted(context, new_resource.metrics, None)
        resource = self.rows.add(
            Resource(
                id=key,
                type=kind.id,
                project_id=new_resource.project_id,
                user_id=new_resource.user_id,
                original_resource_id=new_resource.id,
                started_at=started,
                ended_at=new_resource.ended_at,
                created_by_project_id=context.project_id,
                created_by_user_id=context.user_id,
                attributes={**dict.fromkeys(kind.attributes), **new_resource.attributes},
                is_server=False,
            )
        )
        self._attach(context, resource, metrics)
        return resource

    def change(self, context: Context, resource: Resource, kind: ResourceType, requested: ResourceChange) -> None:
        """Set fields and attributes of a resource, and add metrics. Raises ApiError."""
        for name in required(kind.attributes):
            if name in requested.attributes and requested.attributes[name] is None:
                raise bad_request(f"Value None for attribute {name} on resource type {kind.id} is invalid")
        if requested.ended_at is not None and (end := time_of(requested.ended_at)) < time_of(resource.started_at):
            shown = end.isoformat(" ")
            raise bad_request(f"Value {shown} for attribute ended_at on resource type {kind.id} is invalid")
        self.add_metrics(context, resource, requested.metrics)
        resource.attributes = {**resource.attributes, **requested.attributes}
        self.rows.update(resource, **requested.fields)

    def add_metrics(self, context: Context, resource: Resource, requested: NamedMetrics) -> None:
        """Add metrics to a resource, all or none. Raises ApiError."""
        self._attach(context, resource, self._accepted(context, requested, resource))

    def remove(self, resource: Resource) -> None:
        """Remove a resource with its metrics."""
        for metric in self._metrics.of(resource).values():
            self._metrics.remove(metric)
        self.rows.remove(resource)

    def _accepted(
        self, context: Context, requested: NamedMetrics, resource: Resource | None
    ) -> dict[str, Metric | NewMetric]:
        """The metrics, all of which can be added to a resource, or to a new one. Raises ApiError."""
        found: dict[str, Metric | NewMetric] = {}
        for name, metric in requested.items():
            if isinstance(metric, str):
                known = self._metrics.rows.get(metric)
                if known is None or context.project_id not in known.owners:
                    raise bad_request(f"Metric {metric} does not exist")
                found[name] = known
            else:
                found[name] = new = NewMetric.from_json({**metric, "name": name})
                self._metrics.check(new, resource)
        return found

    def _attach(self, context: Context, resource: Resource, metrics: Mapping[str, Metric | NewMetric]) -> None:
        for name, metric in metrics.items():
            if isinstance(metric, NewMetric):
                self._metrics.create(metric, context.project_id, context.user_id, resource)
            else:
                metric.resource_id, metric.name = resource.id, name
                self._metrics.rows.save(metric)


def resource_id(value: str, user: str, project: str | None) -> str:
    """The ID of the resource that a user calls so: a UUID, or one made of the name and its creator."""
    try:
        return str(UUID(value))
    except ValueError:
        return str(uuid5(_NAMESPACE, f"{value}\n{user}:{project}"))


def _fields(expression: object) -> list[str]:
    """The names of the fields in an expression."""
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


def _by_any_id(expression: object) -> object:
    """The expression that finds resources by the IDs that they were created with, too."""
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
