"""Load balancers and their parts over HTTP."""

from __future__ import annotations

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.loadbalancer.building import Draft, check, create_balancer, wanted
from openstack_emulator.loadbalancer.checks import failure, refused
from openstack_emulator.loadbalancer.kinds import (
    HEALTH_MONITOR,
    L7_POLICY,
    L7_RULE,
    LISTENER,
    LOAD_BALANCER,
    MEMBER,
    POOL,
    Kind,
)
from openstack_emulator.loadbalancer.lists import listed, trimmed
from openstack_emulator.loadbalancer.records import SECONDS_TO_CHANGE, LoadBalancerRecords
from openstack_emulator.loadbalancer.views import filters_of, status_tree, view

NO_TRAFFIC = dict.fromkeys(("active_connections", "bytes_in", "bytes_out", "request_errors", "total_connections"), 0)
"""Statistics: no traffic passes an emulated load balancer."""


class Endpoint:
    """The routes of a kind; `outer` is the kind that the path names before it, for members and rules."""

    def __init__(self, kind: Kind, outer: Kind | None = None) -> None:
        self.kind = kind
        self.outer = outer

    def routes(self) -> dict[str, dict[str, Handler]]:
        before = f"/{self.outer.path}/{{parent_id}}" if self.outer else ""
        path = f"{before}/{self.kind.path}"
        return {
            path: {"GET": self.index, "POST": self.create},
            f"{path}/{{id}}": {"GET": self.show, "PUT": self.update, "DELETE": self.delete},
        }

    def index(self, records: LoadBalancerRecords, request: Request) -> Response:
        caller, equals = request.context, {}
        if self.outer is not None:
            equals[self.kind.parent] = records.outer(caller, self.outer, request.vars["parent_id"])["id"]
        elif not caller.is_admin:
            equals["project_id"] = caller.project
        rows = records.rows[self.kind].select(**equals)
        return listed(
            request, self.kind.members, (view(records, self.kind, row) for row in rows), filters=filters_of(self.kind)
        )

    def show(self, records: LoadBalancerRecords, request: Request) -> Response:
        shown = view(records, self.kind, self._found(records, request))
        return Response({self.kind.member: trimmed(shown, request.query)})

    def create(self, records: LoadBalancerRecords, request: Request) -> Response:
        caller = writer(request)
        given = self.kind.body(request)
        if self.kind is LOAD_BALANCER:
            made = create_balancer(records, caller, given)
        else:
            values = wanted(self.kind, given)
            container = self._container(records, request, caller, given)
            balancer = records.balancer(container)
            records.require_mutable(balancer)
            draft = Draft(records, caller, balancer)
            parents = {} if self.kind in (LISTENER, POOL) else {self.kind.parent: container["id"]}
            made = draft.place(self.kind, values, **parents)
            draft.create()
        return Response({self.kind.member: view(records, self.kind, made)}, 201)

    def update(self, records: LoadBalancerRecords, request: Request) -> Response:
        caller, record = writer(request), self._found(records, request)
        change(records, caller, self.kind, record, self.kind.body(request))
        return Response({self.kind.member: view(records, self.kind, record)})

    def delete(self, records: LoadBalancerRecords, request: Request) -> Response:
        writer(request)
        cascade = bool(request.query.boolean("cascade"))
        records.delete(self.kind, self._found(records, request), cascade)
        return Response(status=204)

    def _found(self, records: LoadBalancerRecords, request: Request) -> Record:
        parent = None
        if self.outer is not None:
            parent = records.outer(request.context, self.outer, request.vars["parent_id"])["id"]
        return records.reach(request.context, self.kind, request.vars["id"], parent)

    def _container(
        self, records: LoadBalancerRecords, request: Request, caller: Context, given: dict[str, object]
    ) -> Record:
        """The object that a new one belongs to: named by the path, or by the first of these fields of the body."""
        if self.outer is not None:
            return records.outer(caller, self.outer, request.vars["parent_id"])
        for field, kind in CONTAINERS[self.kind].items():
            if given.get(field):
                return records.reach(caller, kind, str(given[field]))
        if len(names := list(CONTAINERS[self.kind])) == 1:
            raise refused(names[0], None, "Mandatory field missing.")
        raise failure(f"Must provide at least one of: {', '.join(names)}")


CONTAINERS: dict[Kind, dict[str, Kind]] = {
    LISTENER: {"loadbalancer_id": LOAD_BALANCER},
    POOL: {"loadbalancer_id": LOAD_BALANCER, "listener_id": LISTENER},
    HEALTH_MONITOR: {"pool_id": POOL},
    L7_POLICY: {"listener_id": LISTENER},
}


def writer(request: Request) -> Context:
    """The caller, who may change load balancers. Raises ApiError 403 for one who may only read."""
    request.context.require("member", "load-balancer_member")
    return request.context


def change(records: LoadBalancerRecords, caller: Context, kind: Kind, record: Record, given: object) -> None:
    """Change an object, which is pending for a while. Raises ApiError 400 and 409."""
    balancer = records.balancer(record)
    changes = kind.changes(given)
    records.require_mutable(balancer)
    after = {**record, **changes}
    check(Draft(records, caller, balancer), kind, after)
    records.rows[kind].update(record, **{name: after[name] for name in record if name != "id"})
    if kind is L7_POLICY and "position" in changes:
        records.arrange(record["listener_id"], record)
    records.begin(balancer, {"PENDING_UPDATE": [(kind, record)]}, SECONDS_TO_CHANGE)


def replace_members(records: LoadBalancerRecords, request: Request) -> Response:
    """Make a pool have the members of the request: an address and port that it has already is changed.

    Other members are deleted, unless the query says `additive_only`.
    """
    caller = writer(request)
    pool = records.outer(caller, POOL, request.vars["parent_id"])
    balancer = records.balancer(pool)
    listed_ones = request.json.get("members") if isinstance(request.json, dict) else None
    if not isinstance(listed_ones, list) or not all(isinstance(one, dict) for one in listed_ones):
        raise bad_request("The request body must be a JSON object with a list 'members' of objects in it.")
    records.require_mutable(balancer)
    places = [(one.get("address"), one.get("protocol_port")) for one in listed_ones]
    if len(set(map(str, places))) < len(places):
        raise bad_request("The list of members has the same address and protocol_port twice.")
    present = {(row["address"], row["protocol_port"]): row for row in records.rows[MEMBER].select(pool_id=pool["id"])}
    draft = Draft(records, caller, balancer)
    changed: list[tuple[Record, Record]] = []
    for place, given in zip(places, listed_ones, strict=True):
        if (row := present.pop(place, None)) is None:
            draft.add(MEMBER, given, pool_id=pool["id"])
        else:
            fixed = {name for name, field in MEMBER.fields.items() if field.fixed}
            changed.append((row, MEMBER.changes({key: value for key, value in given.items() if key not in fixed})))
    draft.store()
    for row, changes in changed:
        records.rows[MEMBER].update(row, **changes)
    gone = [] if request.query.boolean("additive_only") else list(present.values())
    pending = {
        "PENDING_CREATE": draft.made,
        "PENDING_UPDATE": [(MEMBER, row) for row, _ in changed],
        "PENDING_DELETE": [(MEMBER, row) for row in gone],
    }
    if any(pending.values()):
        records.begin(balancer, pending, SECONDS_TO_CHANGE)
    return Response(status=202)


def show_status(records: LoadBalancerRecords, request: Request) -> Response:
    balancer = records.reach(request.context, LOAD_BALANCER, request.vars["id"])
    return Response({"statuses": {"loadbalancer": status_tree(records, balancer)}})


def show_balancer_stats(records: LoadBalancerRecords, request: Request) -> Response:
    records.reach(request.context, LOAD_BALANCER, request.vars["id"])
    return Response({"stats": NO_TRAFFIC})


def show_listener_stats(records: LoadBalancerRecords, request: Request) -> Response:
    records.reach(request.context, LISTENER, request.vars["id"])
    return Response({"stats": NO_TRAFFIC})


def fail_over(records: LoadBalancerRecords, request: Request) -> Response:
    """Replace what a load balancer runs on; for administrators."""
    request.context.require()
    balancer = records.reach(request.context, LOAD_BALANCER, request.vars["id"])
    records.fail_over(balancer)
    return Response(status=202)


def parts() -> dict[str, dict[str, Handler]]:
    """The routes of load balancers and their parts."""
    routes: dict[str, dict[str, Handler]] = {}
    for endpoint in (
        *(Endpoint(kind) for kind in (LOAD_BALANCER, LISTENER, POOL, HEALTH_MONITOR, L7_POLICY)),
        Endpoint(MEMBER, POOL),
        Endpoint(L7_RULE, L7_POLICY),
    ):
        routes |= endpoint.routes()
    routes["/pools/{parent_id}/members"]["PUT"] = replace_members
    one = "/loadbalancers/{id}"
    routes |= {
        f"{one}/status": {"GET": show_status},
        f"{one}/statuses": {"GET": show_status},
        f"{one}/stats": {"GET": show_balancer_stats},
        f"{one}/failover": {"PUT": fail_over},
        "/listeners/{id}/stats": {"GET": show_listener_stats},
    }
    return routes
