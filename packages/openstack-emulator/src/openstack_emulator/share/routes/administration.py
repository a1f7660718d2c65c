"""Quotas, limits, availability zones, extensions and versions over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Microversions
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.extensions import Extensions
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.limits import usage
from openstack_emulator.core.microversions import version_text
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.versions import DESCRIBED, ApiVersion, all_versions, media_type, own
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.constants import ZONE
from openstack_emulator.share.rules.quotas import SINCE

UPDATED = "2015-08-27T11:33:21Z"
OLDEST, NEWEST = (2, 7), (2, 78)
MICROVERSIONS = Microversions(
    "shared-file-system", OLDEST, NEWEST, default=OLDEST, legacy_header="X-OpenStack-Manila-API-Version", alone=True
)
EXTENSIONS = Extensions({}, updated=UPDATED)


_VERSION = ApiVersion(
    "v2.0",
    (DESCRIBED, own("/v2/")),
    details={
        "version": version_text(NEWEST),
        "min_version": version_text(OLDEST),
        "updated": UPDATED,
        "media-types": [media_type("share", version="1")],
    },
)
versions = all_versions(_VERSION, status=300)
version = all_versions(_VERSION, microversions=MICROVERSIONS)


def _set(request: Request, limits: dict[str, Any]) -> dict[str, int]:
    """Limits, without those that the microversion does not have."""
    return {name: value for name, value in limits.items() if request.version >= SINCE.get(name, OLDEST)}


def _project(request: Request) -> str:
    """The project whose quotas are asked for; 403 for another one than the caller's.

    Its users and share types have no quotas of their own: theirs are those of the project.
    """
    project = request.vars["target_id"]
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow quota_set:show to be performed.")
    return project


def _changed_project(request: Request) -> str:
    """The project whose quotas are changed. Raises ApiError 400 for those of its users or share types."""
    if request.query.get("user_id") or request.query.get("share_type"):
        raise bad_request("The emulated service has quotas of projects only, not of users or share types.")
    return _project(request)


def show_quota(systems: SharedFileSystems, request: Request) -> Response:
    project = _project(request)
    return Response({"quota_set": {"id": project, **_set(request, systems.quotas.limits_of(project))}})


def show_quota_detail(systems: SharedFileSystems, request: Request) -> Response:
    project = _project(request)
    limits = _set(request, systems.quotas.limits_of(project))
    return Response({"quota_set": {"id": project, **usage(limits, systems.quotas.used_by(project))}})


def default_quota(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"quota_set": {"id": request.vars["target_id"], **_set(request, systems.quotas.default_limits())}})


def _changes(systems: SharedFileSystems, body: dict[str, Any]) -> dict[str, int]:
    limits = {key: value for key, value in body.items() if key not in ("tenant_id", "id", "force", "class_name")}
    if unknown := sorted(limits.keys() - systems.quotas.initial().keys()):
        raise bad_request(f"Bad key(s) in quota set: {', '.join(unknown)}")
    check_fields(limits, dict.fromkeys(limits, fields.integer(-1, 2**31 - 1)), where="quota_set")
    return {key: int(value) for key, value in limits.items()}


def update_quota(systems: SharedFileSystems, request: Request) -> Response:
    project, body = _changed_project(request), request.object("quota_set")
    changes, used = _changes(systems, body), systems.quotas.used_by(project)
    if not as_boolean(body.get("force")):
        for name, limit in changes.items():
            if 0 <= limit < used[name]:
                raise bad_request(f"Quota value {limit} for {name} must be greater than already used {used[name]}.")
    systems.quotas.set_limits(project, changes)
    return Response({"quota_set": _set(request, systems.quotas.limits_of(project))})


def delete_quota(systems: SharedFileSystems, request: Request) -> Response:
    systems.quotas.reset_limits(_changed_project(request))
    return Response(status=202)


def show_quota_class(systems: SharedFileSystems, request: Request) -> Response:
    limits = _set(request, systems.quotas.default_limits())
    return Response({"quota_class_set": {"id": request.vars["class_name"], **limits}})


def update_quota_class(systems: SharedFileSystems, request: Request) -> Response:
    if request.vars["class_name"] != "default":
        raise not_found(f"Quota class {request.vars['class_name']} could not be found.")
    systems.quotas.set_limits("default", _changes(systems, request.object("quota_class_set")))
    return Response({"quota_class_set": _set(request, systems.quotas.default_limits())})


MAXIMA = {
    "maxTotalShares": "shares",
    "maxTotalShareGigabytes": "gigabytes",
    "maxTotalShareSnapshots": "snapshots",
    "maxTotalSnapshotGigabytes": "snapshot_gigabytes",
    "maxTotalShareNetworks": "share_networks",
}
TOTALS = {
    "totalSharesUsed": "shares",
    "totalShareGigabytesUsed": "gigabytes",
    "totalShareSnapshotsUsed": "snapshots",
    "totalSnapshotGigabytesUsed": "snapshot_gigabytes",
    "totalShareNetworksUsed": "share_networks",
}
"""The names of limits, and of what is used of them, in the absolute limits of a project."""


def limits(systems: SharedFileSystems, request: Request) -> Response:
    project = request.context.project
    allowed, used = systems.quotas.limits_of(project), systems.quotas.used_by(project)
    absolute = {maximum: allowed[name] for maximum, name in MAXIMA.items()}
    absolute |= {total: used[name] for total, name in TOTALS.items()}
    return Response({"limits": {"rate": [], "absolute": absolute}})


def availability_zones(systems: SharedFileSystems, request: Request) -> Response:
    zone = {"id": "0b5b7a60-3f5f-4a3c-9d34-3ae1c1c1a4e6", "name": ZONE, "created_at": UPDATED, "updated_at": None}
    return Response({"availability_zones": [zone]})
