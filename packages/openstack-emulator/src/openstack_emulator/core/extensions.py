"""The extensions of a service over HTTP: optional parts of its API, which clients look up by alias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, Routes
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response


def extension_routes(names: Mapping[str, str], **common: Any) -> Routes:
    """The routes of extensions: `names` are those of each alias, `common` is what all are shown with besides."""

    def view(alias: str) -> dict[str, Any]:
        name = names[alias]
        return {"alias": alias, "name": name, "description": f"{name} support.", "links": [], **common}

    def index(records: Records, request: Request) -> Response:
        return Response({"extensions": [view(alias) for alias in names]})

    def show(records: Records, request: Request) -> Response:
        if request.vars["alias"] not in names:
            raise not_found("The resource could not be found.")
        return Response({"extension": view(request.vars["alias"])})

    return {"/extensions": {"GET": index}, "/extensions/{alias}": {"GET": show}}
