"""Metadata of servers, images, volumes and snapshots over HTTP: strings by key, each with a URL of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check

C = TypeVar("C")


@dataclass(frozen=True)
class Metadata(Generic[C]):
    """The metadata of one kind of object.

    read, write: return or replace the metadata of the object that the URL names. form: what metadata look like.
    missing, mismatch: the messages of a 404, which may contain `{key}` and `{id}`, and of a 400 for a body with another
    key than the URL. removed: the status of a deletion.
    """

    read: Callable[[C, Request], Mapping[str, str]]
    write: Callable[[C, Request, dict[str, str]], None]
    form: Check
    missing: str
    mismatch: str
    removed: int

    def show(self, component: C, request: Request) -> Response:
        return Response({"metadata": self.read(component, request)})

    def merge(self, component: C, request: Request) -> Response:
        return self._written(component, request, {**self.read(component, request), **self._values(request, "metadata")})

    def replace(self, component: C, request: Request) -> Response:
        self.read(component, request)
        return self._written(component, request, self._values(request, "metadata"))

    def _written(self, component: C, request: Request, metadata: dict[str, str]) -> Response:
        self.write(component, request, metadata)
        return Response({"metadata": metadata})

    def show_item(self, component: C, request: Request) -> Response:
        metadata, key = self._with_item(component, request)
        return Response({"meta": {key: metadata[key]}})

    def set_item(self, component: C, request: Request) -> Response:
        metadata, item = self.read(component, request), self._values(request, "meta")
        if list(item) != [request.vars["key"]]:
            raise bad_request(self.mismatch)
        self.write(component, request, {**metadata, **item})
        return Response({"meta": item})

    def delete_item(self, component: C, request: Request) -> Response:
        metadata, key = self._with_item(component, request)
        self.write(component, request, {name: value for name, value in metadata.items() if name != key})
        return Response(status=self.removed)

    def _with_item(self, component: C, request: Request) -> tuple[Mapping[str, str], str]:
        """The metadata, and the key in the URL. Raises ApiError 404."""
        metadata, key = self.read(component, request), request.vars["key"]
        if key not in metadata:
            raise not_found(self.missing.format(key=key, id=[*request.vars.values()][-2]))
        return metadata, key

    def _values(self, request: Request, name: str) -> dict[str, Any]:
        values = request.object(name)
        check_fields({name: values}, {name: self.form})
        return values
