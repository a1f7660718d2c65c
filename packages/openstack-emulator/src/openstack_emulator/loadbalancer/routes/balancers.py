"""Load balancers over HTTP, besides what they have in common with their parts."""

from __future__ import annotations

from dataclasses import dataclass

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.loadbalancer.records import LoadBalancer, Pool
from openstack_emulator.loadbalancer.routes import forms, inputs
from openstack_emulator.loadbalancer.routes.objects import LISTENERS, Endpoint, writer
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing
from openstack_emulator.loadbalancer.views import NO_TRAFFIC, status_tree, view


@dataclass(frozen=True, kw_only=True)
class Balancers(Endpoint[LoadBalancer]):
    """The handlers of load balancers, which belong to nothing."""

    def create(self, service: LoadBalancing, request: Request) -> Response:
        caller = writer(request)
        balancer = service.creation.create_balancer(caller, inputs.new_balancer(self.form.body(request)))
        return Response({self.form.member: view(service, balancer)}, 201)

    def delete(self, service: LoadBalancing, request: Request) -> Response:
        writer(request)
        cascade = bool(request.query.boolean("cascade"))
        service.provisioning.delete_balancer(self.found(service, request), cascade)
        return Response(status=204)


LOAD_BALANCERS = Balancers(
    kind=LoadBalancer,
    form=forms.LOAD_BALANCER,
    plural="loadbalancers",
    new=inputs.new_balancer,
    relations=("vip_vnic_type", "additional_vips"),
)


def show_status(service: LoadBalancing, request: Request) -> Response:
    balancer = LOAD_BALANCERS.found(service, request)
    return Response({"statuses": {"loadbalancer": status_tree(service, balancer)}})


def show_stats(service: LoadBalancing, request: Request) -> Response:
    LOAD_BALANCERS.found(service, request)
    return Response({"stats": NO_TRAFFIC})


def show_listener_stats(service: LoadBalancing, request: Request) -> Response:
    LISTENERS.found(service, request)
    return Response({"stats": NO_TRAFFIC})


def fail_over(service: LoadBalancing, request: Request) -> Response:
    """Replace what a load balancer runs on."""
    service.provisioning.fail_over(LOAD_BALANCERS.found(service, request))
    return Response(status=202)


def replace_members(service: LoadBalancing, request: Request) -> Response:
    """Make a pool have the members of the request: an address and port that it has already is changed.

    Other members are deleted, unless the query says `additive_only`.
    """
    caller = writer(request)
    pool = service.tables.outer(caller, Pool, request.vars["parent_id"])
    entries = request.json.get("members") if isinstance(request.json, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise bad_request("The request body must be a JSON object with a list 'members' of objects in it.")
    members = [inputs.requested_member(entry) for entry in entries]
    additive = bool(request.query.boolean("additive_only"))
    service.changes.replace_members(caller, pool, members, additive)
    return Response(status=202)
