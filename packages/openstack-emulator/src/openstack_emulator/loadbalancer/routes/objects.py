"""Load balancers and their parts over HTTP: what requests do to all kinds of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.loadbalancer.records import (
    HealthMonitor,
    L7Policy,
    L7Rule,
    Listener,
    LoadBalancer,
    Member,
    Pool,
    Provisioned,
)
from openstack_emulator.loadbalancer.routes import checks, forms, inputs
from openstack_emulator.loadbalancer.routes.fields import Form
from openstack_emulator.loadbalancer.routes.lists import list_response, trimmed
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing
from openstack_emulator.loadbalancer.rules.errors import failure
from openstack_emulator.loadbalancer.rules.inputs import NewObject
from openstack_emulator.loadbalancer.rules.tables import P
from openstack_emulator.loadbalancer.views import view

OF_EVERY_KIND = ("id", "project_id", "created_at", "updated_at", "provisioning_status", "operating_status")


def key_of(request: Request) -> str:
    """The ID in the path."""
    return request.vars["id"]


def writer(request: Request) -> Context:
    """The caller, who may change load balancers. Raises ApiError 403 for one who may only read."""
    request.context.require("member", "load-balancer_member")
    return request.context


@dataclass(frozen=True, kw_only=True)
class Endpoint(Generic[P]):
    """The handlers of one kind of objects.

    plural: the key around a list. new: reads what a request wants to be created. relations: fields by which objects can
    be listed, besides those that requests give. containers: the kinds of objects that a new one may belong to, by the
    fields of the body that name them, of which the first one that is given counts.
    """

    kind: type[P]
    form: Form
    plural: str
    new: Callable[[Any], NewObject[P]]
    relations: tuple[str, ...] = ()
    containers: Mapping[str, type[Provisioned]] = field(default_factory=dict)

    def index(self, service: LoadBalancing, request: Request) -> Response:
        rows = [view(service, row) for row in self._rows(service, request)]
        return list_response(request, self.plural, rows, filters={*self.form.fields, *OF_EVERY_KIND, *self.relations})

    def show(self, service: LoadBalancing, request: Request) -> Response:
        shown = view(service, self.found(service, request))
        return Response({self.form.member: trimmed(shown, request.query)})

    def create(self, service: LoadBalancing, request: Request) -> Response:
        caller, body = writer(request), self.form.body(request)
        new = self.new(body)
        record = service.creation.create_part(caller, new, self._container(service, request, body))
        return Response({self.form.member: view(service, record)}, 201)

    def update(self, service: LoadBalancing, request: Request) -> Response:
        caller, row = writer(request), self.found(service, request)
        service.changes.change(caller, row, self.form.changes(self.form.body(request)))
        return Response({self.form.member: view(service, row)})

    def delete(self, service: LoadBalancing, request: Request) -> Response:
        writer(request)
        service.provisioning.delete(self.found(service, request))
        return Response(status=204)

    def found(self, service: LoadBalancing, request: Request) -> P:
        """The object in the path. Raises ApiError 403 and 404."""
        return service.tables.reach(request.context, self.kind, key_of(request))

    def _rows(self, service: LoadBalancing, request: Request) -> list[P]:
        caller, table = request.context, service.tables.of(self.kind)
        return [*table] if caller.is_admin else table.select(project_id=caller.project)

    def _container(self, service: LoadBalancing, request: Request, body: Mapping[str, object]) -> Provisioned:
        """The object that a new one belongs to. Raises ApiError 400, 403 and 404."""
        for name, kind in self.containers.items():
            if body.get(name):
                return service.tables.reach(request.context, kind, str(body[name]))
        if len(names := list(self.containers)) == 1:
            checks.COMPLETE.check(self.form.member, body, {}, names)
        raise failure(f"Must provide at least one of: {', '.join(names)}")


@dataclass(frozen=True, kw_only=True)
class InnerEndpoint(Endpoint[P]):
    """The handlers of a kind whose objects are in another one that the path names before them.

    outer: the kind of that one. parent: the field with its ID.
    """

    outer: type[Provisioned]
    parent: str

    def container(self, service: LoadBalancing, request: Request) -> Provisioned:
        """The outer object in the path. Raises ApiError 403 and 404."""
        return service.tables.outer(request.context, self.outer, request.vars["parent_id"])

    def found(self, service: LoadBalancing, request: Request) -> P:
        outer = self.container(service, request)
        table, key = service.tables.of(self.kind), key_of(request)
        if table.require(key).get(self.parent) != outer.id:
            raise table.missing(key)
        return service.tables.reach(request.context, self.kind, key)

    def _rows(self, service: LoadBalancing, request: Request) -> list[P]:
        return service.tables.of(self.kind).select(**{self.parent: self.container(service, request).id})

    def _container(self, service: LoadBalancing, request: Request, body: Mapping[str, object]) -> Provisioned:
        return self.container(service, request)


LISTENERS = Endpoint(
    kind=Listener,
    form=forms.LISTENER,
    plural="listeners",
    new=inputs.new_listener,
    relations=("loadbalancers", "load_balancer_id"),
    containers={"loadbalancer_id": LoadBalancer},
)
POOLS = Endpoint(
    kind=Pool,
    form=forms.POOL,
    plural="pools",
    new=inputs.new_pool,
    relations=("loadbalancers", "load_balancer_id", "listeners", "healthmonitor_id"),
    containers={"loadbalancer_id": LoadBalancer, "listener_id": Listener},
)
HEALTH_MONITORS = Endpoint(
    kind=HealthMonitor,
    form=forms.HEALTH_MONITOR,
    plural="healthmonitors",
    new=inputs.new_monitor,
    relations=("pools",),
    containers={"pool_id": Pool},
)
L7_POLICIES = Endpoint(
    kind=L7Policy,
    form=forms.L7_POLICY,
    plural="l7policies",
    new=inputs.new_policy,
    containers={"listener_id": Listener},
)
MEMBERS = InnerEndpoint(
    kind=Member,
    form=forms.MEMBER,
    plural="members",
    new=inputs.new_member,
    relations=("vnic_type",),
    outer=Pool,
    parent="pool_id",
)
L7_RULES = InnerEndpoint(
    kind=L7Rule, form=forms.L7_RULE, plural="rules", new=inputs.new_rule, outer=L7Policy, parent="l7policy_id"
)
