"""The extensions of a service over HTTP: optional parts of its API, which clients look up by alias."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response


class Extensions:
    """The handlers of extensions: `names` are those of each alias, `common` is what all are shown with besides."""

    def __init__(self, names: Mapping[str, str], **common: object) -> None:
        self._names = names
        self._common = common

    def index(self, records: Records, request: Request) -> Response:
        return Response({"extensions": [self._view(alias) for alias in self._names]})

    def show(self, records: Records, request: Request) -> Response:
        if request.vars["alias"] not in self._names:
            raise not_found("The resource could not be found.")
        return Response({"extension": self._view(request.vars["alias"])})

    def _view(self, alias: str) -> dict[str, object]:
        name = self._names[alias]
        return {"alias": alias, "name": name, "description": f"{name} support.", "links": [], **self._common}
