"""Limits and quotas over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.quotas import DEFAULT_LIMITS
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.limits import usage
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields

ALLOWED: Mapping[str, str] = {
    "maxServerMeta": "metadata_items",
    "maxTotalInstances": "instances",
    "maxTotalCores": "cores",
    "maxTotalRAMSize": "ram",
    "maxTotalKeypairs": "key_pairs",
    "maxServerGroups": "server_groups",
    "maxServerGroupMembers": "server_group_members",
}
"""What the limits of a project are called, and the quotas that they show."""
USED: Mapping[str, str] = {
    "totalInstancesUsed": "instances",
    "totalCoresUsed": "cores",
    "totalRAMUsed": "ram",
    "totalServerGroupsUsed": "server_groups",
}
"""What is shown of their use."""
ALLOWED_UNTIL: Sequence[tuple[Version, Mapping[str, str]]] = (
    ((2, 38), {"maxImageMeta": "metadata_items"}),
    (
        (2, 35),
        {
            "maxSecurityGroups": "security_groups",
            "maxSecurityGroupRules": "security_group_rules",
            "maxTotalFloatingIps": "floating_ips",
        },
    ),
    ((2, 56), {"maxPersonality": "injected_files", "maxPersonalitySize": "injected_file_content_bytes"}),
)
"""Further limits, with the last microversions that show them."""


def limits(compute: ComputeService, request: Request) -> Response:
    project = request.query.get("tenant_id") or request.context.project
    if project != request.context.project_id and not request.context.is_admin:
        raise forbidden("Policy doesn't allow os_compute_api:limits:other_project to be performed.")
    allowed, used = compute.quotas.limits_of(project), compute.quotas.used_by(project)
    absolute = {shown: allowed[name] for shown, name in ALLOWED.items()}
    absolute |= {shown: used[name] for shown, name in USED.items()}
    for last, names in ALLOWED_UNTIL:
        absolute |= {shown: allowed[name] for shown, name in names.items() if request.version <= last}
    if request.version < (2, 36):
        absolute |= {"totalFloatingIpsUsed": 0, "totalSecurityGroupsUsed": 0}
    return Response({"limits": {"rate": [], "absolute": absolute}})


def _target(request: Request) -> str:
    """The project that the path names."""
    return request.vars["target_id"]


def _quota_names(request: Request) -> list[str]:
    gone: set[str] = set()
    if request.version >= (2, 36):
        gone |= {"fixed_ips", "floating_ips", "security_groups", "security_group_rules"}
    if request.version >= (2, 57):
        gone |= {"injected_files", "injected_file_content_bytes", "injected_file_path_bytes"}
    return [name for name in DEFAULT_LIMITS if name not in gone]


def _quota_project(request: Request) -> str:
    project = _target(request)
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow os_compute_api:os-quota-sets:show to be performed.")
    return project


def _quota_view(request: Request, limits_: dict[str, int]) -> dict[str, int]:
    return {name: limits_[name] for name in _quota_names(request)}


def show_quota(compute: ComputeService, request: Request) -> Response:
    project = _quota_project(request)
    return Response({"quota_set": {"id": project, **_quota_view(request, compute.quotas.limits_of(project))}})


def show_quota_detail(compute: ComputeService, request: Request) -> Response:
    project = _quota_project(request)
    limits_ = _quota_view(request, compute.quotas.limits_of(project))
    return Response({"quota_set": {"id": project, **usage(limits_, compute.quotas.used_by(project))}})


def default_quota(compute: ComputeService, request: Request) -> Response:
    project = _target(request)
    return Response({"quota_set": {"id": project, **_quota_view(request, compute.quotas.default_limits())}})


def _quota_changes(request: Request, body: dict[str, Any], ignored: tuple[str, ...]) -> dict[str, int]:
    limits = {key: value for key, value in body.items() if key not in ignored}
    check_fields(limits, dict.fromkeys(_quota_names(request), fields.integer(-1, 2**31 - 1)), where="quota_set")
    return {key: int(value) for key, value in limits.items()}


def update_quota(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    project, body = _target(request), request.object("quota_set")
    changes = _quota_changes(request, body, ("tenant_id", "force"))
    used = compute.quotas.used_by(project)
    if not as_boolean(body.get("force", False)):
        for name, limit in changes.items():
            if 0 <= limit < used[name]:
                raise bad_request(
                    f"Quota limit {limit} for {name} must be greater than or equal to already used {used[name]}."
                )
    compute.quotas.set_limits(project, changes)
    return Response({"quota_set": _quota_view(request, compute.quotas.limits_of(project))})


def delete_quota(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    compute.quotas.reset_limits(_target(request))
    return Response(status=202)


def _class_name(request: Request) -> str:
    return request.vars["class_name"]


def show_quota_class(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    view = _quota_view(request, compute.quotas.default_limits())
    return Response({"quota_class_set": {"id": _class_name(request), **view}})


def update_quota_class(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    if (name := _class_name(request)) != "default":
        raise not_found(f"Quota class {name} could not be found.")
    compute.quotas.set_limits("default", _quota_changes(request, request.object("quota_class_set"), ("class_name",)))
    return Response({"quota_class_set": _quota_view(request, compute.quotas.default_limits())})
