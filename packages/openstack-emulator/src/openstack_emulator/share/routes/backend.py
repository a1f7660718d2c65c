"""The processes of the service and the pools of the scheduler over HTTP, for administrators."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.http import Request, Response
from openstack_emulator.share.rules.backend import CAPABILITIES, TOTAL_GIB, fits, processes
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.constants import BACKEND_HOST
from stoker_foundation.patterns import PatternError
from stoker_foundation.patterns.linear import expression

SERVICE_FILTERS = ("host", "binary", "zone", "status", "state")
POOL_FILTERS = ("host", "backend", "pool")
SINCE_TYPE = (2, 23)


def services(systems: SharedFileSystems, request: Request) -> Response:
    rows = [
        {"id": number, **process, "status": "enabled", "state": "up", "updated_at": systems.shares.moment()}
        for number, process in enumerate(processes(), 1)
    ]
    body = {name: request.query.get(name) for name in SERVICE_FILTERS}
    found = [row for row in rows if all(value in (None, row[name]) for name, value in body.items())]
    return Response({"services": found})


def _found(pattern: str | None, name: str) -> bool:
    """Whether a regular expression matches the beginning of a name; an invalid one matches nothing."""
    try:
        return pattern is None or expression(pattern).begins(name)
    except PatternError:
        return False


def _pools(systems: SharedFileSystems, request: Request) -> list[dict[str, Any]]:
    """The pool, if the query's host, back end, pool, share type and capabilities fit."""
    rest, pool = BACKEND_HOST.split("#")
    host, backend = rest.split("@")
    row = {"name": BACKEND_HOST, "host": host, "backend": backend, "pool": pool}
    query = request.query
    if not all(_found(query.get(name), row[name]) for name in POOL_FILTERS):
        return []
    kind = query.get("share_type") if request.version >= SINCE_TYPE else None
    if kind and not fits(systems.types.find(request.context, kind).extra_specs):
        return []
    capabilities = {name: value for name, value in query.pairs if name in CAPABILITIES}
    return [row] if fits(capabilities) else []


def pools(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"pools": _pools(systems, request)})


def pools_in_detail(systems: SharedFileSystems, request: Request) -> Response:
    used = sum(share.size for share in systems.shares.rows)
    state = {"allocated_capacity_gb": used, "provisioned_capacity_gb": used, "free_capacity_gb": TOTAL_GIB - used}
    rows = [
        {**row, "capabilities": {**CAPABILITIES, **state, "timestamp": systems.shares.moment()}}
        for row in _pools(systems, request)
    ]
    return Response({"pools": rows})
