"""Accounts over HTTP: what is in one, and its metadata."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore.records import Account
from openstack_emulator.objectstore.routes.access import require_owner, require_reseller
from openstack_emulator.objectstore.routes.bulk import bulk_delete, bulk_upload
from openstack_emulator.objectstore.routes.listing import NO_LIST, listed, rendered
from openstack_emulator.objectstore.routes.paths import account_of
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import refused
from openstack_emulator.objectstore.rules.metadata import ACCOUNT_QUOTAS, changed, is_number
from openstack_emulator.objectstore.rules.times import timestamp
from openstack_emulator.objectstore.views import account_headers, container_entry, usage_headers


def head(swift: ObjectStore, request: Request) -> Response:
    """The counts; of an account that nothing has been put into, as if there were an empty one."""
    name = account_of(request)
    require_owner(request, name)
    account = swift.accounts.rows.get(name)
    if account is None:
        now = timestamp(swift.ticks.now())
        return Response(None, 200, {**usage_headers([]), "X-Timestamp": now, "X-Put-Timestamp": now, **NO_LIST})
    return Response(None, 204, {**account_headers(swift, account), **NO_LIST})


def index(swift: ObjectStore, request: Request) -> Response:
    account = _owned(swift, request)
    containers = sorted(swift.containers.of(account.id), key=lambda row: row.name)
    entries = listed(containers, request.query, lambda container: container_entry(swift, container))
    response = rendered(request, "account", account.id, "container", entries)
    response.headers.update(account_headers(swift, account))
    return response


def put(swift: ObjectStore, request: Request) -> Response:
    """Make the account; with `extract-archive`, unpack an archive of containers into it."""
    account = _owned(swift, request)
    if "extract-archive" in request.query:
        return bulk_upload(swift, request, account.id, "")
    _change(swift, request, account)
    return Response(status=202)


def post(swift: ObjectStore, request: Request) -> Response:
    account = _owned(swift, request)
    if "bulk-delete" in request.query:
        return bulk_delete(swift, request, account.id)
    _change(swift, request, account)
    return Response(status=204)


def delete(swift: ObjectStore, request: Request) -> Response:
    """Only bulk deletion: accounts themselves stay."""
    account = _owned(swift, request)
    if "bulk-delete" in request.query:
        return bulk_delete(swift, request, account.id)
    raise refused(405, {"Allow": "HEAD, GET, PUT, POST, OPTIONS"})


def _owned(swift: ObjectStore, request: Request) -> Account:
    require_owner(request, account_of(request))
    return swift.accounts.require(account_of(request))


def _change(swift: ObjectStore, request: Request, account: Account) -> None:
    for name in ACCOUNT_QUOTAS:
        if name not in request.headers and name.replace("x-", "x-remove-", 1) not in request.headers:
            continue
        require_reseller(request, account.id)
        if not is_number(request.headers.get(name) or "0"):
            raise refused(400)
    headers = changed(account.headers, request.headers, "account", tuple(ACCOUNT_QUOTAS))
    swift.accounts.change(account, headers)
