"""Handlers of quotas."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.converting import Invalid
from openstack_emulator.network.records.core import Quota
from openstack_emulator.network.routes.endpoints import actor_of
from openstack_emulator.network.rules.attributes import integer, words_of
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.errors import disallowed, invalid_input, missing
from openstack_emulator.network.rules.resources import DEFAULT_QUOTA, UNLIMITED

LIMIT = integer(UNLIMITED, 2**31 - 1)


def _quota_project(request: Request, rule: str) -> str:
    project_id = request.vars["project_id"]
    actor = actor_of(request)
    if not actor.admin and (rule != "get_quota" or project_id != actor.project_id):
        raise disallowed(rule)
    return project_id


def list_quotas(network: NetworkService, request: Request) -> Response:
    if not actor_of(request).admin:
        raise disallowed("get_quota")
    ids = [row.id for row in network.state.quotas]
    shown = [{**network.state.quota(key), "project_id": key, "tenant_id": key} for key in ids]
    return Response({"quotas": shown})


def show_quota(network: NetworkService, request: Request) -> Response:
    return Response({"quota": network.state.quota(_quota_project(request, "get_quota"))})


def show_default_quota(network: NetworkService, request: Request) -> Response:
    _quota_project(request, "get_quota")
    return Response({"quota": dict(DEFAULT_QUOTA)})


def show_quota_details(network: NetworkService, request: Request) -> Response:
    project_id = _quota_project(request, "get_quota")
    limits = network.state.quota(project_id)
    used = network.state.usage
    details = {name: {"limit": limit, "used": used[project_id, name], "reserved": 0} for name, limit in limits.items()}
    return Response({"quota": details})


def update_quota(network: NetworkService, request: Request) -> Response:
    project_id = _quota_project(request, "update_quota")
    limits: dict[str, int] = {}
    for name, value in request.object("quota").items():
        if name in ("tenant_id", "project_id", "force", "check_limit"):
            continue
        if name not in DEFAULT_QUOTA:
            raise bad_request(f"Unrecognized attribute(s) '{name}'")
        try:
            limits[name] = LIMIT(value)
        except Invalid as error:
            raise invalid_input(words_of(error)) from None
    row = network.state.quotas.get(project_id) or network.state.quotas.add(Quota(id=project_id, limits={}))
    network.state.quotas.update(row, limits={**row.limits, **limits})
    return Response({"quota": network.state.quota(project_id)})


def delete_quota(network: NetworkService, request: Request) -> Response:
    project_id = _quota_project(request, "delete_quota")
    row = network.state.quotas.get(project_id)
    if row is None:
        raise missing("TenantQuota", "Quota for tenant", project_id)
    network.state.quotas.remove(row)
    return Response(status=204)


def project_of_token(network: NetworkService, request: Request) -> Response:
    return Response({"tenant": {"tenant_id": request.context.project}})
