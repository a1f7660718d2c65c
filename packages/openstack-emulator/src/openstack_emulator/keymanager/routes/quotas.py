"""The quotas of projects over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.limits import DEFAULT
from openstack_emulator.core.validation.fields import exact_integer, mapping
from openstack_emulator.keymanager.routes.bodies import key_of, list_response, object_of
from openstack_emulator.keymanager.rules.composition import KeyManager
from openstack_emulator.keymanager.rules.quotas import KINDS, UNLIMITED
from openstack_emulator.keymanager.rules.validation import BARBICAN, within

_SCHEMA = "'Project Quota'"
_FORMS = {kind: exact_integer(UNLIMITED, 2**31 - 1) for kind in KINDS}
_IN_QUOTAS = within("project_quotas")


def show_own(manager: KeyManager, request: Request) -> Response:
    return Response({"quotas": manager.quotas.limits_of(request.context.project)})


def index(manager: KeyManager, request: Request) -> Response:
    _require_administrator(request.context)
    keys = [key for key in manager.quotas.rows.ids() if key != DEFAULT]
    return list_response(
        request,
        "project_quotas",
        keys,
        lambda base, key: {"project_id": key, "project_quotas": manager.quotas.limits_of(key)},
    )


def show(manager: KeyManager, request: Request) -> Response:
    _require_administrator(request.context)
    return Response({"project_quotas": manager.quotas.limits_of(_limited(manager, request))})


def update(manager: KeyManager, request: Request) -> Response:
    _require_administrator(request.context)
    body = object_of(request)
    BARBICAN.check(_SCHEMA, body, {"project_quotas": mapping}, ["project_quotas"])
    limits = body["project_quotas"]
    _IN_QUOTAS.check(_SCHEMA, limits, _FORMS)
    manager.quotas.set_limits(key_of(request), {kind: limits[kind] for kind in KINDS if kind in limits})
    return Response(status=204)


def delete(manager: KeyManager, request: Request) -> Response:
    _require_administrator(request.context)
    manager.quotas.reset_limits(_limited(manager, request))
    return Response(status=204)


def _limited(manager: KeyManager, request: Request) -> str:
    """The project that the URL names, if it has limits of its own; 404."""
    if key_of(request) not in manager.quotas.rows:
        raise not_found("Project quotas not found.")
    return key_of(request)


def _require_administrator(context: Context) -> None:
    if not context.is_admin and "key-manager:service-admin" not in context.roles:
        raise forbidden("Project Quotas attempt not allowed - please review your user/project privileges")
