"""Actions on scans of the objects of a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.cfn import views
from stoker.api.cfn.call import PAGE, QueryCall, next_token, number_of, page_of
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.identifiers import identifier, one_identifier
from stoker.base.errors import ActionInProgress, EntityNotFound
from stoker.contract.request import Answer, Request
from stoker.contract.resource_scans import ListScannedObjects, ListScans, ShowScan, StartScan

FULL, PARTIAL = "FULL", "PARTIAL"
_ARN = "arn:openstack:heat::{}:resourceScan/{}"


def start(call: QueryCall) -> dict[str, Any]:
    """Start a scan of the project, of all types or those that fit a filter."""
    filters = [each for scan_filter in call["ScanFilters"] for each in scan_filter["Types"]]
    scan = _execute(call, StartScan(filters=filters or None))
    return {"ResourceScanId": _ARN.format(call.context.project_id, scan["id"])}


def describe(call: QueryCall) -> dict[str, object]:
    """Return the progress and the result of a scan."""
    view = _execute(call, ShowScan(scan_id=_id(call)))
    return {
        **_progress(view),
        "ResourceTypes": list(view["types"]),
        "ResourcesScanned": view["objects"],
        "ResourcesRead": view["objects_read"],
        "ScanFilters": None if view["filters"] is None else [{"Types": list(view["filters"])}],
    }


def list_all(call: QueryCall) -> dict[str, object]:
    """Return a page of the scans of the project."""
    found = [{**_progress(each), "ScanType": _kind(each)} for each in _execute(call, ListScans())]
    chosen = [each for each in found if call["ScanTypeFilter"] in (None, each["ScanType"])]
    page, token = page_of(chosen, call["NextToken"], call["MaxResults"] or PAGE)
    return {"ResourceScanSummaries": page, "NextToken": token}


def list_resources(call: QueryCall) -> dict[str, object]:
    """Return a page of the objects that a scan has found."""
    page, token = _page(
        call,
        identifier=call["ResourceIdentifier"],
        type_prefix=call["ResourceTypePrefix"],
        tag_key=call["TagKey"],
        tag_value=call["TagValue"],
    )
    return {"Resources": page, "NextToken": token}


def list_related(call: QueryCall) -> dict[str, object]:
    """Return a page of the objects that belong to others: to which these refer, or which refer to these."""
    resources = [(each["ResourceType"], one_identifier(each)) for each in call["Resources"]]
    page, token = _page(call, related_to=resources)
    return {"RelatedResources": page, "NextToken": token}


def _page(call: QueryCall, **selection: Any) -> tuple[list[dict[str, object]], str | None]:
    start, size = number_of(call["NextToken"]), call["MaxResults"] or PAGE
    found = _execute(call, ListScannedObjects(scan_id=_id(call), start=start, limit=size, **selection))
    shown = [
        {
            "ResourceType": each["resource_type"],
            "ResourceIdentifier": identifier(each["physical_resource_id"]),
            "ManagedByStack": each["managed"],
        }
        for each in found["objects"]
    ]
    return shown, next_token(str(start + size)) if start + size < found["total"] else None


def _execute(call: QueryCall, request: Request[Answer]) -> Answer:
    try:
        return call.execute(request)
    except EntityNotFound as error:
        raise QueryError("ResourceScanNotFound", error.message) from error
    except ActionInProgress as error:
        raise QueryError("ResourceScanInProgress", error.message) from error


def _id(call: QueryCall) -> str:
    """Return the ID in an ARN of the project, or the ID itself."""
    identifier = str(call["ResourceScanId"])
    return identifier.removeprefix(_ARN.format(call.context.project_id, ""))


def _progress(view: Mapping[str, Any]) -> dict[str, object]:
    done = view["types_read"] / len(view["types"]) if view["types"] else 1.0
    return {
        "ResourceScanId": _ARN.format(view["project_id"], view["id"]),
        "Status": view["status"],
        "StatusReason": view["reason"] or None,
        "StartTime": views.time_text(view["started_at"]),
        "EndTime": views.time_text(view["ended_at"]),
        "PercentageCompleted": round(100.0 * (1.0 if view["status"] in ("COMPLETE", "EXPIRED") else done), 1),
    }


def _kind(view: Mapping[str, object]) -> str:
    return FULL if view["filters"] is None else PARTIAL
