"""Whether a request may do what it asks for: as the owner, by a container's lists, or by a signed URL."""

from __future__ import annotations

from openstack_emulator.core.http import Request
from openstack_emulator.objectstore.records import Container
from openstack_emulator.objectstore.routes.temp_url import check_signature, is_signed
from openstack_emulator.objectstore.rules import acl
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import refused

OPERATORS = frozenset({"admin", "manager", "member", "SwiftOperator"})
"""Roles that own their project's account."""
RESELLERS = frozenset({"admin", "ResellerAdmin"})
"""Roles that own every account, and set quotas of accounts."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})


def owns(request: Request, account: str) -> bool:
    """Whether the caller has all rights on the account."""
    caller = request.caller
    if caller is None:
        return False
    if caller.roles & RESELLERS:
        return True
    return account == f"AUTH_{caller.project_id}" and bool(caller.roles & OPERATORS)


def require_owner(request: Request, account: str) -> None:
    """401 without a token, 403 for one that does not own the account."""
    if not owns(request, account):
        raise denied(request, account)


def require_reseller(request: Request, account: str) -> None:
    if request.caller is None or not request.caller.roles & RESELLERS:
        raise denied(request, account)


def require_listing(swift: ObjectStore, request: Request, account: str, container: str) -> None:
    """For who may list the container: owner, those its read list names, or all when it says so."""
    read = _acl(swift.containers.find(account, container), "read")
    if owns(request, account) or acl.admits(read, request.caller):
        return
    if not (acl.lists_publicly(read) and acl.is_public(read, request.headers.get("referer", ""))):
        raise denied(request, account)


def require_object(swift: ObjectStore, request: Request, account: str, container: str, name: str) -> None:
    """For who may read (or, by another method, write) an object."""
    if is_signed(request):
        check_signature(swift, request, account, container, name)
    elif request.method in READING or request.method == "COPY":
        require_reading(swift, request, account, container)
    else:
        require_writing(swift, request, account, container)


def require_reading(swift: ObjectStore, request: Request, account: str, container: str) -> None:
    read = _acl(swift.containers.find(account, container), "read")
    if not (
        owns(request, account)
        or acl.admits(read, request.caller)
        or acl.is_public(read, request.headers.get("referer", ""))
    ):
        raise denied(request, account)


def require_writing(swift: ObjectStore, request: Request, account: str, container: str) -> None:
    write = _acl(swift.containers.find(account, container), "write")
    if not (owns(request, account) or acl.admits(write, request.caller)):
        raise denied(request, account)


def denied(request: Request, account: str) -> Exception:
    if request.caller is None:
        identity = request.base.removesuffix("/object-store") + "/identity/v3"
        return refused(401, {"WWW-Authenticate": f'Swift realm="{account}", Keystone uri="{identity}"'})
    return refused(403)


def _acl(container: Container | None, kind: str) -> str:
    return "" if container is None else container.headers.get(f"x-container-{kind}", "")
