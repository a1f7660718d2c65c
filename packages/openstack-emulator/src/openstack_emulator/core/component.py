"""Components: the parts that a service with many kinds of records is composed of.

A component keeps a few collections and the rules that hold for them. What it depends on (other components, collections
of others) are arguments of its constructor, so that the constructor of the service's records shows the whole graph. A
route handler takes the one component that it needs: see `using`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from openstack_emulator.core.cloud import Cloud, Handler, Records, Routes
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import R, Record, Rows

C = TypeVar("C", bound="Component")
P = ParamSpec("P")
ActionHandler = Callable[[Records, Request, Record, Any], Response]
"""The handler of an action on a record; the last argument is what the request's body has under the action's name."""
MICROSECONDS = "%Y-%m-%dT%H:%M:%S.%f"


class Rules:
    """What a service decides about some kinds of its records. The service's composition has one object of each class.

    A subclass passes the methods that `after` is to call to `self.records.deferrable` in its constructor.
    """

    def __init__(self, records: Records) -> None:
        self.records = records

    @property
    def cloud(self) -> Cloud:
        return self.records.cloud

    def after(self, seconds: float, method: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """See `Records.after`."""
        self.records.after(seconds, method, *args, **kwargs)

    def moment(self) -> str:
        """The time of day in UTC with microseconds, as Nova and Cinder write it."""
        return self.records.timestamp(MICROSECONDS)


class Component(Rules):
    """Rules that `using` finds by their class, in services whose handlers do not get the service's composition yet."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        records.add_component(self)


def visible(collection: Rows[R], context: Context, key: str) -> R:
    """A record that the caller may see.

    Raises: ApiError, the collection's 404, for other records and unknown keys.
    """
    record = collection.require(key)
    if not context.may_see(record):
        raise collection.missing(key)
    return record


def using(kind: type[C], routes: Mapping[str, Mapping[str, Callable[[C, Request], Response]]]) -> Routes:
    """Routes whose handlers take a component of the service in place of all of its records."""
    return {
        pattern: {method: _with_component(kind, handler) for method, handler in methods.items()}
        for pattern, methods in routes.items()
    }


def _with_component(kind: type[C], handler: Callable[[C, Request], Response]) -> Handler:
    def serve(records: Any, request: Request) -> Response:
        return handler(records.component(kind), request)

    return serve


def on(kind: type[C], handler: Callable[[C, Request, Record, Any], Response]) -> ActionHandler:
    """The handler of an action that takes a component of the service in place of all of its records."""

    def act(records: Records, request: Request, record: Record, arguments: Any) -> Response:
        return handler(records.component(kind), request, record, arguments)

    return act


def merged(*tables: Routes) -> Routes:
    """One table of routes: the methods of a pattern that several tables have are joined."""
    routes: dict[str, dict[str, Handler]] = {}
    for table in tables:
        for pattern, methods in table.items():
            routes.setdefault(pattern, {}).update(methods)
    return routes
