"""Free texts that an object holds under keys, such as a flavor's `extra_specs`: each has a URL of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stoker.emulator.core import fields
from stoker.emulator.core.errors import bad_request, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Collection, Record


@dataclass(frozen=True)
class Specs:
    """The texts in one field of a kind of object.

    `owner` is what such an object is called in errors, `entries` what its texts are; `texts` says what is wrong with a
    map of them.
    """

    field: str
    owner: str
    entries: str
    texts: fields.Check

    def add(self, rows: Collection, record: Record, wanted: Any) -> None:
        """Lay texts over those that a record of `rows` has. Raises ApiError 400."""
        self._check(wanted)
        rows.update(record, **{self.field: {**record[self.field], **wanted}})

    def show(self, record: Record, request: Request) -> Response:
        """The text that the URL names. Raises ApiError 404."""
        key = self._key(record, request)
        return Response({key: record[self.field][key]})

    def change(self, rows: Collection, record: Record, request: Request) -> Response:
        """Set the text that the URL names. Raises ApiError 400."""
        wanted = request.json
        self._check(wanted)
        if list(wanted) != [request.vars["key"]]:
            raise bad_request("Request body and URI mismatch: the body must have the key of the URI and no other.")
        rows.update(record, **{self.field: {**record[self.field], **wanted}})
        return Response(wanted)

    def remove(self, rows: Collection, record: Record, request: Request) -> None:
        """Take the text away that the URL names. Raises ApiError 404."""
        key = self._key(record, request)
        rows.update(record, **{self.field: {name: text for name, text in record[self.field].items() if name != key}})

    def _check(self, wanted: Any) -> None:
        fields.check_fields({self.field: wanted}, {self.field: self.texts})

    def _key(self, record: Record, request: Request) -> str:
        key = request.vars["key"]
        if key not in record[self.field]:
            raise not_found(f"{self.owner} {record['id']} has no {self.entries} with key {key}.")
        return key
