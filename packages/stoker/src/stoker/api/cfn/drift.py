"""Actions on drift: changes of resources that were made outside of the stack."""

from __future__ import annotations

from stoker.api.cfn import views
from stoker.api.cfn.call import PAGE, QueryCall, page_of
from stoker.base.ids import arn
from stoker.contract.drift import DetectDrift, DetectResourceDrift, DriftStatus, ListDrift, ShowDriftDetection

STATUSES = ("IN_SYNC", "MODIFIED", "DELETED", "NOT_CHECKED", "UNKNOWN", "UNSUPPORTED")

_UNASKED = "NOT_CHECKED"
"""Resources with this status are only shown if they are requested."""


def detect(call: QueryCall) -> dict[str, object]:
    """Start to detect drift of a stack."""
    return {
        "StackDriftDetectionId": call.execute_on_stack(DetectDrift(ref=call.ref, names=call["LogicalResourceIds"]))[
            "id"
        ]
    }


def detect_resource(call: QueryCall) -> dict[str, object]:
    """Detect drift of one resource."""
    found = call.execute_on_stack(DetectResourceDrift(ref=call.ref, name=call["LogicalResourceId"]))
    return {"StackResourceDrift": views.resource_drift(found)}


def describe_detection(call: QueryCall) -> dict[str, object]:
    """Return the progress of a drift detection, or its result for the stack."""
    found = call.execute(ShowDriftDetection(detection_id=call["StackDriftDetectionId"]))
    return {
        "StackId": arn(found["project_id"], found["stack_name"], found["stack_id"]),
        "StackDriftDetectionId": found["id"],
        "StackDriftStatus": found["drift"],
        "DetectionStatus": f"DETECTION_{found['status']}",
        "DetectionStatusReason": found["reason"] or _progress(found),
        "DriftedStackResourceCount": found["drifted"] if found["drift"] else None,
        "Timestamp": views.time_text(found["time"]),
    }


def _progress(found: DriftStatus) -> str | None:
    """Return how far a detection is; None when it has ended."""
    progress = found.get("progress")
    if found["drift"] is not None or progress is None:
        return None
    differing = len(progress["differing"])
    return f"{progress['compared']} of {progress['resources']} resources were compared; {differing} of them differ"


def describe_resources(call: QueryCall) -> dict[str, object]:
    """Return a page of the results of the last drift detection for the resources of a stack."""
    statuses = call["StackResourceDriftStatusFilters"] or [status for status in STATUSES if status != _UNASKED]
    found = [view for view in call.execute_on_stack(ListDrift(ref=call.ref)) if view["status"] in statuses]
    page, token = page_of(found, call["NextToken"], call["MaxResults"] or PAGE)
    return {"StackResourceDrifts": [views.resource_drift(view) for view in page], "NextToken": token}
