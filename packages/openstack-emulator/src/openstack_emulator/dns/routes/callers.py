"""Who sent a request, and with which of the rights that headers ask for."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Request
from openstack_emulator.dns.rules.callers import Caller


def caller_of(request: Request) -> Caller:
    """Return the caller of a request. Raises ApiError 403 for headers that only administrators may send."""
    context, headers = request.context, request.headers
    all_projects = _is_set(headers, "x-auth-all-projects")
    edits_managed = _is_set(headers, "x-designate-edit-managed-records")
    sudo = headers.get("x-auth-sudo-project-id") or headers.get("x-auth-sudo-tenant-id")
    if (all_projects or edits_managed or sudo) and not context.is_admin:
        raise forbidden("")
    return Caller(sudo or context.project_id or "", context.is_admin, all_projects, edits_managed)


def administrator_of(request: Request) -> Caller:
    """Return the caller, who must be an administrator. Raises ApiError 403."""
    caller = caller_of(request)
    if not caller.is_admin:
        raise forbidden("")
    return caller


def _is_set(headers: Mapping[str, str], name: str) -> bool:
    return headers.get(name, "").lower() in ("true", "yes", "1")
