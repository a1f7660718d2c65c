"""The quotas of projects."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.component import using
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.limits import Limits
from openstack_emulator.dns.http import LARGEST_LIMIT, administrator_of, body_of, caller_of, number
from openstack_emulator.dns.names import LONGEST
from openstack_emulator.identity.records import IdentityRecords

UNLIMITED = -1
LIMITS = {"zones": 10, "zone_recordsets": 500, "zone_records": 500, "recordset_records": 20, "api_export_size": 1000}
_FIELDS = {name: number(name, UNLIMITED, 2**31 - 1) for name in LIMITS}


class Quotas(Limits):
    """The limits of projects; -1 means unlimited."""

    def initial(self) -> Mapping[str, int]:
        return LIMITS

    def admit(self, project_id: str, kind: str, wanted: int) -> None:
        """Raise ApiError 413 when a project may not have `wanted` objects of a kind."""
        if self.exceeded(project_id, {kind: wanted}, {kind: 0}):
            raise ApiError(413, f"Quota exceeded for {kind}.", "over_quota")


def _project(request: Request) -> str:
    """Return the project that the path names: other ones than the caller's only for administrators, on request."""
    caller, project = caller_of(request), request.vars["project_id"]
    if project != caller.project_id and not caller.all_projects:
        raise forbidden("")
    return project


def show_own(quotas: Quotas, request: Request) -> Response:
    return Response(quotas.limits_of(caller_of(request).project_id))


def show(quotas: Quotas, request: Request) -> Response:
    return Response(quotas.limits_of(_project(request)))


def update(quotas: Quotas, request: Request) -> Response:
    administrator_of(request)
    project = _project(request)
    if quotas.cloud.of(IdentityRecords).projects.get(project) is None:
        raise ApiError(400, f"{project} is not a valid project ID.", "invalid_project")
    changes = {name: int(value) for name, value in body_of(request, "quota", _FIELDS).items()}
    quotas.set_limits(project, changes)
    return Response(quotas.limits_of(project))


def reset(quotas: Quotas, request: Request) -> Response:
    administrator_of(request)
    quotas.reset_limits(request.vars["project_id"])
    return Response(status=204)


def show_limits(quotas: Quotas, request: Request) -> Response:
    limits = quotas.limits_of(caller_of(request).project_id)
    return Response(
        {
            "max_zones": limits["zones"],
            "max_zone_recordsets": limits["zone_recordsets"],
            "max_zone_records": limits["zone_records"],
            "max_recordset_records": limits["recordset_records"],
            "min_ttl": None,
            "max_zone_name_length": LONGEST,
            "max_recordset_name_length": LONGEST,
            "max_page_limit": LARGEST_LIMIT,
        }
    )


QUOTA_ROUTES = using(
    Quotas,
    {
        "/quotas": {"GET": show_own},
        "/quotas/{project_id}": {"GET": show, "PATCH": update, "DELETE": reset},
        "/limits": {"GET": show_limits},
    },
)
