"""What administrators set up: top-level domains, blacklists, TSIG keys, pools; and the statuses of services."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.cloud import Records, Routes, new_id
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.fields import Check, identifier, integer, nullable, one_of, text, text_map
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection, Record, public
from openstack_emulator.dns.http import (
    LONGEST_DESCRIPTION,
    administrator_of,
    body_of,
    duplicate,
    listed,
    missing,
    uuid_of,
)
from openstack_emulator.dns.names import domain_problem
from openstack_emulator.dns.pools import DEFAULT_POOL, NAME_SERVERS
from openstack_emulator.dns.rules import NameRules, pattern_problem

DESCRIPTION = nullable(text(0, LONGEST_DESCRIPTION))
ALGORITHMS = ("hmac-md5", "hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512")
PROCESSES = ("api", "central", "mdns", "producer", "worker")


def _tld_problem(value: Any) -> str | None:
    bad = not isinstance(value, str) or value.endswith(".") or domain_problem(f"{value}.") is not None
    return f"{value!r} is not a 'tldname'" if bad else None


def _servers_problem(value: Any) -> str | None:
    checks: Mapping[str, Check] = {"hostname": domain_problem, "priority": integer(0, 10000)}
    if not isinstance(value, list) or not value:
        return f"{value!r} is not a list of name servers"
    for server in value:
        if not isinstance(server, dict) or server.keys() != checks.keys():
            return f"{server!r} must have hostname and priority"
        if problem := next((found for name, check in checks.items() if (found := check(server[name]))), None):
            return problem
    return None


@dataclass(frozen=True)
class Kind:
    """Objects of operators: their path, their title in errors, fields and defaults; `unique` is a field."""

    path: str
    title: str
    unique: str
    fields: Mapping[str, Check]
    required: tuple[str, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)


TLD = Kind("tlds", "Tld", "name", {"name": _tld_problem, "description": DESCRIPTION}, ("name",), {"description": None})
BLACKLIST = Kind(
    "blacklists",
    "Blacklist",
    "pattern",
    {"pattern": pattern_problem, "description": DESCRIPTION},
    ("pattern",),
    {"description": None},
)
TSIG_KEY = Kind(
    "tsigkeys",
    "TsigKey",
    "name",
    {
        "name": text(1, 160),
        "algorithm": one_of(*ALGORITHMS),
        "secret": text(1, 160),
        "scope": one_of("POOL", "ZONE"),
        "resource_id": identifier,
    },
    ("name", "algorithm", "secret", "scope", "resource_id"),
)
POOL = Kind(
    "pools",
    "Pool",
    "name",
    {
        "name": text(1, 50),
        "description": DESCRIPTION,
        "attributes": nullable(text_map()),
        "ns_records": _servers_problem,
        "project_id": nullable(text(1, 64)),
    },
    ("name", "ns_records"),
    {"description": None, "attributes": {}},
)
KINDS = (TLD, BLACKLIST, TSIG_KEY, POOL)


class Operators(Component):
    """The objects of operators, by kind. A zone is always in the default pool: other ones have no name servers."""

    def __init__(self, records: Records, rules: NameRules) -> None:
        super().__init__(records)
        self.rows: dict[str, Collection] = {
            TLD.path: rules.tlds,
            BLACKLIST.path: rules.blacklists,
            TSIG_KEY.path: records.collection(TSIG_KEY.path, ("name",), missing(TSIG_KEY.title)),
            POOL.path: records.collection(POOL.path, ("name",), missing(POOL.title)),
        }
        self.statuses = records.collection("service_statuses", missing=missing("Service Status"))

    def seed(self) -> None:
        """Add the default pool, and the processes of the service."""
        pool = {"name": "default", "ns_records": [dict(server) for server in NAME_SERVERS], "project_id": None}
        self.add(POOL, {**POOL.defaults, **pool}, DEFAULT_POOL)
        for name in PROCESSES:
            row = {"service_name": name, "hostname": "devstack", "status": "UP", "stats": {}, "capabilities": {}}
            self.statuses.add({"id": new_id(), **row, "created_at": self.moment(), "updated_at": None})

    def add(self, kind: Kind, fields: Record, key: str | None = None) -> Record:
        """Add an object. Raises ApiError 409 when there is one with the same name."""
        rows = self.rows[kind.path]
        if rows.select(**{kind.unique: fields[kind.unique]}):
            raise duplicate(kind.title)
        return rows.add({"id": key or new_id(), **fields, "created_at": self.moment(), "updated_at": None})

    def change(self, kind: Kind, record: Record, changes: Record) -> None:
        """Change an object. Raises ApiError 409 when another one has the same name."""
        rows = self.rows[kind.path]
        if any(row is not record for row in rows.select(**{kind.unique: changes.get(kind.unique)})):
            raise duplicate(kind.title)
        rows.update(record, **changes, updated_at=self.moment())

    def remove(self, kind: Kind, record: Record) -> None:
        """Remove an object. Raises ApiError 400 for the default pool."""
        if record["id"] == DEFAULT_POOL:
            raise ApiError(400, "Not allowed to delete the default pool", "invalid_operation")
        self.rows[kind.path].remove(record)


def _shown(kind: Kind) -> Callable[[Request, Record], dict[str, Any]]:
    def view(request: Request, record: Record) -> dict[str, Any]:
        return {**public(record), "links": {"self": f"{request.base}/v2/{kind.path}/{record['id']}"}}

    return view


def _routes(kind: Kind) -> Routes:
    """Return the routes of a kind, for administrators."""
    view, variable = _shown(kind), f"{kind.title.lower()}_id"

    def found(operators: Operators, request: Request) -> Record:
        administrator_of(request)
        return operators.rows[kind.path].require(uuid_of(request, variable))

    def index(operators: Operators, request: Request) -> Response:
        administrator_of(request)
        return listed(request, kind.path, operators.rows[kind.path], view, tuple(kind.fields))

    def create(operators: Operators, request: Request) -> Response:
        caller = administrator_of(request)
        owner = {"project_id": caller.project_id} if kind is POOL else {}
        fields = {**kind.defaults, **owner, **body_of(request, kind.title.lower(), kind.fields, kind.required)}
        return Response(view(request, operators.add(kind, fields)), 201)

    def show(operators: Operators, request: Request) -> Response:
        return Response(view(request, found(operators, request)))

    def update(operators: Operators, request: Request) -> Response:
        record = found(operators, request)
        operators.change(kind, record, body_of(request, kind.title.lower(), kind.fields))
        return Response(view(request, record), 202 if kind is POOL else 200)

    def delete(operators: Operators, request: Request) -> Response:
        operators.remove(kind, found(operators, request))
        return Response(status=204)

    return using(
        Operators,
        {
            f"/{kind.path}": {"GET": index, "POST": create},
            f"/{kind.path}/{{{variable}}}": {"GET": show, "PATCH": update, "DELETE": delete},
        },
    )


def _status_view(request: Request, record: Record) -> dict[str, Any]:
    link = f"{request.base}/v2/service_statuses/{record['id']}"
    return {**record, "heartbeated_at": record["created_at"], "links": {"self": link}}


def list_statuses(operators: Operators, request: Request) -> Response:
    administrator_of(request)
    filters = ("hostname", "service_name", "status")
    return listed(request, "service_statuses", operators.statuses, _status_view, filters)


def show_status(operators: Operators, request: Request) -> Response:
    administrator_of(request)
    record = operators.statuses.require(uuid_of(request, "service_id"))
    return Response(_status_view(request, record))


OPERATOR_ROUTES: Routes = {
    **{pattern: methods for kind in KINDS for pattern, methods in _routes(kind).items()},
    **using(
        Operators,
        {"/service_statuses": {"GET": list_statuses}, "/service_statuses/{service_id}": {"GET": show_status}},
    ),
}
