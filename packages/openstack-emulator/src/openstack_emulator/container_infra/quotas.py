"""How many clusters a project may have."""

from __future__ import annotations

from typing import Any

from openstack_emulator.container_infra.http import given, integer, one_of, text
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.objects import TIMESTAMP, listed, require_version
from openstack_emulator.core.store import Record
from openstack_emulator.identity.records import IdentityRecords

CLUSTER = "Cluster"
DEFAULT_LIMIT = 20
UNSAID_LIMIT = 1
"""The limit that a new quota has if the request names none."""
QUOTAS_SINCE = (1, 6)
_KNOWN = {
    "project_id": text(shortest=1),
    "resource": one_of(CLUSTER),
    "hard_limit": integer(0),
}


class Quotas(Component):
    """The limits that administrators have set, by project."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("quotas", ("project_id",), _missing)

    def limit_of(self, project_id: str) -> int:
        """Return how many clusters a project may have."""
        row = self.rows.get(f"{project_id}:{CLUSTER}")
        return DEFAULT_LIMIT if row is None else int(row["hard_limit"])

    def admit(self, project_id: str, used: int) -> None:
        """Raise ApiError 403 if a project that has `used` clusters may not have another one."""
        limit = self.limit_of(project_id)
        if 0 <= limit <= used:
            raise forbidden(
                f"Resource limit exceeded: You have reached the maximum clusters per project, {limit}. You may delete "
                "a cluster to make room for a new one."
            )

    def visible(self, context: Context, project_id: str, resource: str) -> Record:
        """Return a limit; that of a project without one of its own has the default. Raises ApiError 403 and 404."""
        if not context.is_admin and project_id != context.project_id:
            raise forbidden("Not authorized.")
        row = self.rows.get(f"{project_id}:{resource}")
        return row or {"project_id": project_id, "resource": CLUSTER, "hard_limit": DEFAULT_LIMIT}


def _new(number: int, project_id: str, limit: int, created: str) -> Record:
    return {
        "id": f"{project_id}:{CLUSTER}",
        "_number": number,
        "project_id": project_id,
        "resource": CLUSTER,
        "hard_limit": limit,
        "created_at": created,
        "updated_at": None,
    }


def _missing(key: str) -> ApiError:
    project_id, _, resource = key.partition(":")
    return not_found(f"Quota could not be found: project_id {project_id} resource {resource}.")


def view(base: str, row: Record) -> dict[str, Any]:
    """Return a quota as clients see it."""
    shown = {name: value for name, value in row.items() if name[0] != "_"}
    return {**shown, "id": row["_number"]} if "_number" in row else shown


def _administrator(request: Request) -> None:
    require_version(request, QUOTAS_SINCE)
    request.context.require()


def _given(request: Request) -> dict[str, Any]:
    return {"hard_limit": UNSAID_LIMIT, **given(request, "quota", _KNOWN, ("project_id", "resource"))}


def index(quotas: Quotas, request: Request) -> Response:
    require_version(request, QUOTAS_SINCE)
    context = request.context
    context.require()
    every = request.query.boolean("all_tenants")
    rows = list(quotas.rows) if every else quotas.rows.select(project_id=context.project)
    return listed(request, "quotas", rows, view, ("all_tenants",))


def create(quotas: Quotas, request: Request) -> Response:
    _administrator(request)
    wanted = _given(request)
    project = wanted["project_id"]
    if quotas.cloud.of(IdentityRecords).projects.get(project) is None:
        raise not_found(f"The project_id {project} could not be found.")
    if f"{project}:{CLUSTER}" in quotas.rows:
        raise conflict(f"Quota for project {project} already exists for resource {CLUSTER}.")
    number = 1 + max((row["_number"] for row in quotas.rows), default=0)
    row = _new(number, project, wanted["hard_limit"], quotas.records.timestamp(TIMESTAMP))
    return Response(view(request.base, quotas.rows.add(row)), 201)


def show(quotas: Quotas, request: Request) -> Response:
    return Response(
        view(request.base, quotas.visible(request.context, request.vars["project_id"], request.vars["resource"]))
    )


def _row(quotas: Quotas, request: Request) -> Record:
    _administrator(request)
    return quotas.rows.require(f"{request.vars['project_id']}:{request.vars['resource']}")


def change(quotas: Quotas, request: Request) -> Response:
    row, wanted = _row(quotas, request), _given(request)
    if wanted["project_id"] != row["project_id"]:
        raise bad_request("The project of a quota cannot be changed.")
    quotas.rows.update(row, hard_limit=wanted["hard_limit"], updated_at=quotas.records.timestamp(TIMESTAMP))
    return Response(view(request.base, row), 202)


def delete(quotas: Quotas, request: Request) -> Response:
    quotas.rows.remove(_row(quotas, request))
    return Response(status=204)


QUOTA_ROUTES = using(
    Quotas,
    {
        "/quotas": {"GET": index, "POST": create},
        "/quotas/{project_id}/{resource}": {"GET": show, "PATCH": change, "DELETE": delete},
    },
)
