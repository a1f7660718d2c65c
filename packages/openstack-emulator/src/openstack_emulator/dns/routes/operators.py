"""What administrators set up, over HTTP: top-level domains, blacklists, TSIG keys, pools; the statuses of processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import identifier, integer, nullable, one_of, text, text_map
from openstack_emulator.core.validation.problems import Check, Problem, Reason, specific
from openstack_emulator.dns.records import Blacklist, NameServer, OperatorRecord, Pool, TopLevelDomain, TsigKey
from openstack_emulator.dns.routes.bodies import LONGEST_DESCRIPTION, body_of, uuid_of
from openstack_emulator.dns.routes.callers import administrator_of
from openstack_emulator.dns.routes.lists import list_response
from openstack_emulator.dns.rules.allowed_names import pattern_problem
from openstack_emulator.dns.rules.callers import Caller
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.rules.names import domain_problem
from openstack_emulator.dns.rules.operators import OperatorRecords
from openstack_emulator.dns.views import operator_view, pool_view, process_view

T = TypeVar("T", bound=OperatorRecord)
DESCRIPTION = nullable(text(0, LONGEST_DESCRIPTION))
ALGORITHMS = ("hmac-md5", "hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512")
_SERVERS = "ns_records"


def _tld_problem(value: object) -> Problem | None:
    bad = not isinstance(value, str) or value.endswith(".") or domain_problem(f"{value}.") is not None
    return Problem(Reason.FORMAT, value, "tldname") if bad else None


def _servers_problem(value: object) -> Problem | None:
    checks: Mapping[str, Check] = {"hostname": domain_problem, "priority": integer(0, 10000)}
    if not isinstance(value, list) or not value:
        return specific(value, f"{value!r} is not a list of name servers")
    for server in value:
        if not isinstance(server, dict) or server.keys() != checks.keys():
            return specific(value, f"{server!r} must have hostname and priority")
        for name, check in checks.items():
            if (problem := check(server[name])) is not None:
                return problem.within(name)
    return None


def _as_they_are(fields: dict[str, object]) -> dict[str, object]:
    return fields


@dataclass(frozen=True, kw_only=True)
class RecordKind(Generic[T]):
    """The routes of one kind of records, for administrators.

    path: the collection. variable: the record's ID in the path. title: a record in errors. record: its class.
    rules: those for it. fields, required, defaults: what requests can say of it. owned: fields that the caller decides.
    typed: makes values of fields of their JSON. changed: the status of the answer to a change.
    """

    path: str
    variable: str
    title: str
    record: type[T]
    rules: Callable[[DomainNames], OperatorRecords[T]]
    fields: Mapping[str, Check]
    required: tuple[str, ...]
    view: Callable[[Request, T], dict[str, Any]]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    owned: Callable[[Caller], Mapping[str, object]] = lambda caller: {}
    typed: Callable[[dict[str, Any]], dict[str, Any]] = _as_they_are
    changed: int = 200

    def index(self, names: DomainNames, request: Request) -> Response:
        administrator_of(request)
        return list_response(request, self.path, self.rules(names).rows, self.view, tuple(self.fields))

    def create(self, names: DomainNames, request: Request) -> Response:
        caller = administrator_of(request)
        body = body_of(request, self.title, self.fields, self.required)
        record = self.typed({**self.defaults, **self.owned(caller), **body})
        return Response(self.view(request, self.rules(names).create(self.record, record)), 201)

    def show(self, names: DomainNames, request: Request) -> Response:
        return Response(self.view(request, self._found(names, request)))

    def update(self, names: DomainNames, request: Request) -> Response:
        record = self._found(names, request)
        self.rules(names).change(record, self.typed(body_of(request, self.title, self.fields)))
        return Response(self.view(request, record), self.changed)

    def delete(self, names: DomainNames, request: Request) -> Response:
        record = self._found(names, request)
        self.rules(names).remove(record)
        return Response(status=204)

    def _found(self, names: DomainNames, request: Request) -> T:
        administrator_of(request)
        return self.rules(names).rows.require(uuid_of(request, self.variable))


def _with_servers(fields: dict[str, Any]) -> dict[str, object]:
    """The fields of a pool, with its name servers as parts of it."""
    servers = fields.get(_SERVERS)
    return fields if servers is None else {**fields, _SERVERS: [NameServer.from_json(server) for server in servers]}


DOMAINS = RecordKind(
    path="tlds",
    variable="tld_id",
    title="tld",
    record=TopLevelDomain,
    rules=lambda names: names.domains,
    fields={"name": _tld_problem, "description": DESCRIPTION},
    required=("name",),
    view=operator_view("tlds"),
    defaults={"description": None},
)
BLACKLISTS = RecordKind(
    path="blacklists",
    variable="blacklist_id",
    title="blacklist",
    record=Blacklist,
    rules=lambda names: names.blacklists,
    fields={"pattern": pattern_problem, "description": DESCRIPTION},
    required=("pattern",),
    view=operator_view("blacklists"),
    defaults={"description": None},
)
KEYS = RecordKind(
    path="tsigkeys",
    variable="tsigkey_id",
    title="tsigkey",
    record=TsigKey,
    rules=lambda names: names.keys,
    fields={
        "name": text(1, 160),
        "algorithm": one_of(*ALGORITHMS),
        "secret": text(1, 160),
        "scope": one_of("POOL", "ZONE"),
        "resource_id": identifier,
    },
    required=("name", "algorithm", "secret", "scope", "resource_id"),
    view=operator_view("tsigkeys"),
)
POOLS = RecordKind(
    path="pools",
    variable="pool_id",
    title="pool",
    record=Pool,
    rules=lambda names: names.pools,
    fields={
        "name": text(1, 50),
        "description": DESCRIPTION,
        "attributes": nullable(text_map()),
        _SERVERS: _servers_problem,
        "project_id": nullable(text(1, 64)),
    },
    required=("name", _SERVERS),
    view=pool_view,
    defaults={"description": None, "attributes": {}},
    owned=lambda caller: {"project_id": caller.project_id},
    typed=_with_servers,
    changed=202,
)


def list_processes(names: DomainNames, request: Request) -> Response:
    administrator_of(request)
    filters = ("hostname", "service_name", "status")
    return list_response(request, "service_statuses", names.processes.rows, process_view, filters)


def show_process(names: DomainNames, request: Request) -> Response:
    administrator_of(request)
    return Response(process_view(request, names.processes.rows.require(uuid_of(request, "service_id"))))
