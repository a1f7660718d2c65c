"""Specs: strings that an object has by key, such as a flavor's `extra_specs`; each has a URL of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import T, Table
from openstack_emulator.core.typed import Readable
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check


@dataclass(frozen=True)
class Specs:
    """The specs in one field of a kind of object.

    owner, entries: what such an object and its specs are called in errors. check: finds what is wrong with a mapping of
    specs.
    """

    field: str
    owner: str
    entries: str
    check: Check

    def add(self, rows: Table[T], record: T, body: Any) -> None:
        """Add specs to a record of `rows`, in place of those with the same keys. Raises ApiError 400."""
        self._check(body)
        rows.update(record, **{self.field: {**record.get(self.field), **body}})

    def show(self, record: Readable, request: Request) -> Response:
        """The spec that the URL names. Raises ApiError 404."""
        key = self._key(record, request)
        return Response({key: record.get(self.field)[key]})

    def change(self, rows: Table[T], record: T, request: Request) -> Response:
        """Set the spec that the URL names. Raises ApiError 400."""
        body = request.json
        self._check(body)
        if list(body) != [request.vars["key"]]:
            raise bad_request("Request body and URI mismatch: the body must have the key of the URI and no other.")
        rows.update(record, **{self.field: {**record.get(self.field), **body}})
        return Response(body)

    def remove(self, rows: Table[T], record: T, request: Request) -> None:
        """Remove the spec that the URL names. Raises ApiError 404."""
        key = self._key(record, request)
        rows.update(
            record, **{self.field: {name: value for name, value in record.get(self.field).items() if name != key}}
        )

    def _check(self, body: object) -> None:
        check_fields({self.field: body}, {self.field: self.check})

    def _key(self, record: Readable, request: Request) -> str:
        key = request.vars["key"]
        if key not in record.get(self.field):
            raise not_found(f"{self.owner} {record.get('id')} has no {self.entries} with key {key}.")
        return key
