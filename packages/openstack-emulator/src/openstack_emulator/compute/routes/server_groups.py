"""Server groups over HTTP."""

from __future__ import annotations

from openstack_emulator.compute.records import ServerGroup
from openstack_emulator.compute.routes.queries import check_sorting
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.server_groups import POLICIES
from openstack_emulator.compute.views import group_detail
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields, invalid
from openstack_emulator.core.validation.problems import Check


def _group(compute: ComputeService, request: Request) -> ServerGroup:
    return visible(compute.server_groups.rows, request.context, request.vars["group_id"])


def list_groups(compute: ComputeService, request: Request) -> Response:
    context = request.context
    everyone = context.is_admin and request.query.boolean("all_projects")
    rows = (
        list(compute.server_groups.rows) if everyone else compute.server_groups.rows.select(project_id=context.project)
    )
    check_sorting(request, ())
    offset = request.query.integer("offset") or 0
    shown = page(rows[offset:], request.query).rows
    return Response({"server_groups": [group_detail(request, row) for row in shown]})


def create_group(compute: ComputeService, request: Request) -> Response:
    body = request.object("server_group")
    allowed = POLICIES if request.version >= (2, 15) else POLICIES[:2]
    checks: dict[str, Check] = {"name": fields.name()}
    if request.version >= (2, 64):
        checks |= {"policy": fields.one_of(*allowed), "rules": fields.anything}
        check_fields(body, checks, ("name", "policy"), "server_group")
        policy, rules = body["policy"], body.get("rules")
    else:
        checks |= {"policies": fields.items(fields.one_of(*allowed), 1)}
        check_fields(body, checks, ("name", "policies"), "server_group")
        policies = body["policies"]
        if not policies:
            raise invalid("policies", [], "[] is too short")
        policy, rules = policies[0], None
    if rules is not None:
        check_fields(rules, {"max_server_per_host": fields.integer(1, 2**63 - 1)}, where="rules")
        rules = {key: int(value) for key, value in rules.items()}
    group = compute.server_groups.create(request.context, body["name"].strip(), policy, rules)
    return Response({"server_group": group_detail(request, group)})


def show_group(compute: ComputeService, request: Request) -> Response:
    return Response({"server_group": group_detail(request, _group(compute, request))})


def delete_group(compute: ComputeService, request: Request) -> Response:
    compute.server_groups.rows.remove(_group(compute, request))
    return Response(status=204)
