"""Rules: the parts that a service with many kinds of records is composed of.

Rules keep no records: they decide about those of a few collections. What they depend on (other rules, collections) are
arguments of their constructors, so that the service's composition shows the whole graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import T, Table

P = ParamSpec("P")
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


def visible(collection: Table[T], context: Context, key: str) -> T:
    """A record that the caller may see.

    Raises: ApiError, the collection's 404, for other records and unknown keys.
    """
    record = collection.require(key)
    if not context.may_see(record):
        raise collection.missing(key)
    return record
