"""Accounts: what is in one, and its metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.objectstore.access import require_owner, require_reseller
from openstack_emulator.objectstore.bulk import bulk_delete, bulk_upload
from openstack_emulator.objectstore.errors import refused
from openstack_emulator.objectstore.listing import NO_LIST, iso_time, listed, rendered
from openstack_emulator.objectstore.metadata import ACCOUNT_QUOTAS, POLICY, Headers, changed, is_number, shown
from openstack_emulator.objectstore.records import ObjectStoreRecords, timestamp


def head(swift: ObjectStoreRecords, request: Request) -> Response:
    """The counts; of an account that nothing has been put into, as if there were an empty one."""
    name = request.vars["account"]
    require_owner(request, name)
    account = swift.accounts.get(name)
    if account is None:
        now = timestamp(swift.cloud.clock.now())
        return Response(None, 200, {**_counts([]), "X-Timestamp": now, "X-Put-Timestamp": now, **NO_LIST})
    return Response(None, 204, {**account_headers(swift, account), **NO_LIST})


def index(swift: ObjectStoreRecords, request: Request) -> Response:
    account = _owned(swift, request)
    containers = sorted(swift.containers_of(account["id"]), key=lambda row: str(row["name"]))

    def entry(container: Record) -> dict[str, Any]:
        count, used = swift.usage(container)
        modified = iso_time(container["created"])
        shown = {"name": container["name"], "count": count, "bytes": used, "last_modified": modified}
        return {**shown, "storage_policy": POLICY}

    entries = listed(containers, request.query, entry)
    response = rendered(request, "account", account["id"], "container", entries)
    response.headers.update(account_headers(swift, account))
    return response


def put(swift: ObjectStoreRecords, request: Request) -> Response:
    """Make the account; with `extract-archive`, unpack an archive of containers into it."""
    account = _owned(swift, request)
    if "extract-archive" in request.query:
        return bulk_upload(swift, request, account["id"], "")
    _change(swift, request, account)
    return Response(status=202)


def post(swift: ObjectStoreRecords, request: Request) -> Response:
    account = _owned(swift, request)
    if "bulk-delete" in request.query:
        return bulk_delete(swift, request, account["id"])
    _change(swift, request, account)
    return Response(status=204)


def delete(swift: ObjectStoreRecords, request: Request) -> Response:
    """Only bulk deletion: accounts themselves stay."""
    account = _owned(swift, request)
    if "bulk-delete" in request.query:
        return bulk_delete(swift, request, account["id"])
    raise refused(405, {"Allow": "HEAD, GET, PUT, POST, OPTIONS"})


def account_headers(swift: ObjectStoreRecords, account: Record) -> Headers:
    usages = [swift.usage(container) for container in swift.containers_of(account["id"])]
    project = swift.cloud.of(IdentityRecords).projects.get(account["project_id"])
    return {
        **_counts(usages),
        **_counts(usages, f"Storage-Policy-{POLICY}-"),
        **({} if project is None else {"X-Account-Project-Domain-Id": project["domain_id"]}),
        "X-Timestamp": timestamp(account["created"]),
        "Accept-Ranges": "bytes",
        **shown(account["headers"]),
    }


def _counts(usages: Sequence[tuple[int, int]], of: str = "") -> Headers:
    return {
        f"X-Account-{of}Container-Count": str(len(usages)),
        f"X-Account-{of}Object-Count": str(sum(count for count, _ in usages)),
        f"X-Account-{of}Bytes-Used": str(sum(used for _, used in usages)),
    }


def _owned(swift: ObjectStoreRecords, request: Request) -> Record:
    require_owner(request, request.vars["account"])
    return swift.account(request.vars["account"])


def _change(swift: ObjectStoreRecords, request: Request, account: Record) -> None:
    for name in ACCOUNT_QUOTAS:
        if name not in request.headers and name.replace("x-", "x-remove-", 1) not in request.headers:
            continue
        require_reseller(request, account["id"])
        if not is_number(request.headers.get(name) or "0"):
            raise refused(400)
    headers = changed(account["headers"], request.headers, "account", tuple(ACCOUNT_QUOTAS))
    swift.accounts.update(account, headers=headers)
