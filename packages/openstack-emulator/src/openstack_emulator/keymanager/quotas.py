"""Limits of the objects that a project may have; -1 means unlimited."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.component import using
from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.limits import DEFAULT, Limits
from openstack_emulator.keymanager.http import check, listed, number, object_of, object_value

UNLIMITED = -1
KINDS = ("secrets", "orders", "containers", "consumers", "cas")
_SCHEMA = "'Project Quota'"
_FORMS = {kind: number(UNLIMITED, 2**31 - 1) for kind in KINDS}


class Quotas(Limits):
    """The limits of projects."""

    def initial(self) -> Mapping[str, int]:
        return dict.fromkeys(KINDS, UNLIMITED)

    def admit(self, project_id: str, kind: str, used: int) -> None:
        """Raise ApiError 403 when a project that has `used` objects of a kind (one of `KINDS`) may have no more."""
        if self.exceeded(project_id, {kind: 1}, {kind: used}):
            what = kind.removesuffix("s").capitalize()
            raise forbidden(f"{what} creation issue seen - Creation not allowed because a quota has been reached.")


def show_own(quotas: Quotas, request: Request) -> Response:
    return Response({"quotas": quotas.limits_of(request.context.project)})


def index(quotas: Quotas, request: Request) -> Response:
    _require_administrator(request.context)
    rows = [row for row in quotas.rows if row["id"] != DEFAULT]
    return listed(
        request,
        "project_quotas",
        rows,
        lambda base, row: {"project_id": row["id"], "project_quotas": quotas.limits_of(row["id"])},
    )


def show(quotas: Quotas, request: Request) -> Response:
    _require_administrator(request.context)
    return Response({"project_quotas": quotas.limits_of(_limited(quotas, request))})


def update(quotas: Quotas, request: Request) -> Response:
    _require_administrator(request.context)
    body = object_of(request)
    check(_SCHEMA, body, {"project_quotas": object_value}, ["project_quotas"])
    given = body["project_quotas"]
    check(_SCHEMA, given, _FORMS, within="project_quotas")
    quotas.set_limits(request.vars["id"], {kind: given[kind] for kind in KINDS if kind in given})
    return Response(status=204)


def delete(quotas: Quotas, request: Request) -> Response:
    _require_administrator(request.context)
    quotas.reset_limits(_limited(quotas, request))
    return Response(status=204)


def _limited(quotas: Quotas, request: Request) -> str:
    """The project that the URL names, if it has limits of its own; 404."""
    if request.vars["id"] not in quotas.rows:
        raise not_found("Project quotas not found.")
    return request.vars["id"]


def _require_administrator(context: Context) -> None:
    if not context.is_admin and "key-manager:service-admin" not in context.roles:
        raise forbidden("Project Quotas attempt not allowed - please review your user/project privileges")


QUOTA_ROUTES = using(
    Quotas,
    {
        "/quotas": {"GET": show_own},
        "/project-quotas": {"GET": index},
        "/project-quotas/{id}": {"GET": show, "PUT": update, "DELETE": delete},
    },
)
