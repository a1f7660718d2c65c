"""Stacks: list, create, show, change, delete; their outputs, snapshots and actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.api.faults import BadRequest
from stoker.api.requests import Body, Query, absent_body, split_identifier
from stoker.api.v1 import views
from stoker.api.v1.call import Handler, Reply, RestCall
from stoker.api.v1.links import link, next_page, with_query
from stoker.api.v1.stack_body import create_request, patch_request, update_request
from stoker.api.values import BOOLEAN, COMMA_LIST, INTEGER, STRING, STRINGS, Choice, Field
from stoker.base.errors import EntityNotFound
from stoker.contract.catalog import ListExports
from stoker.contract.drift import AcceptDrift, ChangeDriftWatch, DetectDrift, ShowDriftDetection, ShowDriftWatch
from stoker.contract.previews import PreviewAction, PreviewPatch, PreviewStack, PreviewUpdate
from stoker.contract.request import OfStack, by_name
from stoker.contract.snapshots import CreateSnapshot, DeleteSnapshot, ListSnapshots, RestoreSnapshot, ShowSnapshot
from stoker.contract.stacks import (
    ActOnStack,
    CreateStack,
    DeleteStack,
    IdentifyStack,
    ListOutputs,
    ListStacks,
    OfDefinition,
    PatchStack,
    Refresh,
    ShowOutput,
    ShowStack,
    UpdateStack,
)

INDEX_QUERY = Query(
    fields={
        "tags": Field(COMMA_LIST),
        "tags_any": Field(COMMA_LIST),
        "not_tags": Field(COMMA_LIST),
        "not_tags_any": Field(COMMA_LIST),
        "limit": Field(INTEGER),
        "marker": Field(STRING),
        "sort_keys": Field(STRING, repeatable=True),
        "sort_dir": Field(Choice("asc", "desc")),
        "global_tenant": Field(BOOLEAN, default=False),
        "show_deleted": Field(BOOLEAN, default=False),
        "show_nested": Field(BOOLEAN, default=False),
        "show_hidden": Field(BOOLEAN, default=False),
        "with_count": Field(BOOLEAN, default=False),
    },
    filters=(
        "id", "name", "status", "action", "tenant", "username", "owner_id", "stack_name", "stack_action",
        "stack_status", "stack_status_reason", "disable_rollback", "timeout_mins", "stack_owner", "parent",
        "stack_user_project_id",
    ),
)  # fmt: skip

SHOW_QUERY = Query({"resolve_outputs": Field(BOOLEAN, default=True)})

DRIFT_QUERY = Query({"detection": Field(STRING)})

PREVIEW_QUERY = Query({"show_nested": Field(BOOLEAN, default=False)})

SNAPSHOT_BODY = Body({"name": Field(STRING)})

SORT_KEYS = frozenset({"stack_name", "stack_status", "creation_time", "updated_time"})
"""The keys for sorting; others are ignored, as in Heat."""

ACCEPT = "accept_drift"

RETRY = "retry"

ACTIONS = ("suspend", "resume", "check", "cancel_update", "cancel_without_rollback", RETRY, "rollback", ACCEPT)
"""The actions on a stack; the last three are extensions of Heat's API."""

ROLLBACKS = ("rollback", "cancel_update")
"""The actions that return to a former definition."""

PLANNED = (*ROLLBACKS, RETRY)
"""The actions that have a preview. `{"rollback": {"plan_digest": …}}` runs exactly the plan with the digest;
`{"rollback": {"refresh": "none"}}` does not compare with the cloud, and previews the same.
"""

ACTION_BODY = Body({})

_DELETION = {"retain": Field(STRING, repeatable=True), "force": Field(BOOLEAN, default=False)}

DEFAULT_MODE = "default"
DRIFT_WATCH_BODY = Body({"mode": Field(Choice("off", "detect", "repair", DEFAULT_MODE), required=True)}, strict=True)
"""`{"mode": "detect"}`"""

DELETE_QUERY = Query({"plan_digest": Field(STRING), **_DELETION})

_REFRESH = Choice(*Refresh)

PREVIEW_DELETE_QUERY = Query({"refresh": Field(_REFRESH), **_DELETION}, strict=True)

RESTORE_BODY = Body({"plan_digest": Field(STRING), "refresh": Field(_REFRESH)}, required=False)

PREVIEW_RESTORE_BODY = Body({"refresh": Field(_REFRESH)}, required=False)


def index(call: RestCall) -> dict[str, object]:
    """List the project's stacks; for an administrator, with the project of each."""
    answer = _listed(call)
    for view, summary in zip(answer["views"], answer["body"]["stacks"], strict=True):
        if call.context.is_admin or call.query["global_tenant"]:
            summary["project"] = view["project_id"]
    body: dict[str, object] = answer["body"]
    return body


def detail(call: RestCall) -> dict[str, Any]:
    """List the project's stacks, without the project of each."""
    body: dict[str, object] = _listed(call)["body"]
    return body


def _listed(call: RestCall) -> dict[str, Any]:
    if call.query["global_tenant"]:
        call.require("stacks:global_index")
    known_sort_keys = [key for key in call.query["sort_keys"] if key in SORT_KEYS]
    answer = call.execute(ListStacks(**{**call.query, "sort_keys": known_sort_keys}))
    stacks = answer["stacks"]
    body: dict[str, object] = {"stacks": [views.stack_summary(view, call.links) for view in stacks]}
    if stacks and len(stacks) == call.query["limit"]:
        body["links"] = [link(next_page(call.url, call.query_string, stacks[-1]["id"]), "next")]
    if call.query["with_count"]:
        body["count"] = answer["count"]
    return {"body": body, "views": stacks}


def create(call: RestCall) -> Reply:
    """Start to create a stack."""
    view = call.execute(create_request(CreateStack, call))
    body = views.stack_created(view, call.links)
    return Reply({"stack": body}, {"Location": body["links"][0]["href"]})


def preview(call: RestCall) -> dict[str, object]:
    """Preview a new stack; `plan` is an extension of Heat's API.

    With `joint_deployment`, other stacks are deployed before it: the values of its `parameters` and `exports` are not
    known yet, and exports that are `released` are no longer in use. `plan_policies` are policies to try, besides those
    that are set: YAML documents by the names of their files.
    """
    request = replace(create_request(PreviewStack, call), **_tried(call))
    view = call.execute(request)
    stack = views.stack_preview(view, call.links)
    resources = [views.resource_raw(item) for item in view["resources"]]
    return {"stack": {**stack, "resources": resources, "plan": view["plan"]}}


def list_exports(call: RestCall) -> dict[str, object]:
    """List the values that the project's stacks export, by name, with the names of the stacks that import them."""
    return {"exports": call.execute(ListExports())}


def show(call: RestCall) -> dict[str, Any]:
    """Show a stack in full."""
    view = call.execute(ShowStack(ref=call.ref, resolve_outputs=call.query["resolve_outputs"]))
    return {"stack": views.stack(view, call.links)}


def update(call: RestCall) -> None:
    """Start to update a stack to the definition in the body."""
    call.execute(update_request(UpdateStack, call))


def update_patch(call: RestCall) -> None:
    """Start to change the parts of a stack that are in the body."""
    call.execute(patch_request(PatchStack, call))


def preview_update(call: RestCall) -> dict[str, object]:
    """Preview an update; with `joint_deployment`, one of a deployment of several stacks.

    `plan_policies` are policies to try, besides those that are set.
    """
    request = replace(update_request(PreviewUpdate, call), **_tried(call))
    return _changes(call, request)


def _tried(call: RestCall) -> dict[str, Any]:
    return {name: call.body[name] for name in ("joint_deployment", "plan_policies")}


def preview_update_patch(call: RestCall) -> dict[str, object]:
    """Preview a change of the parts in the body."""
    return _changes(call, patch_request(PreviewPatch, call))


def _changes(call: RestCall, request: PreviewUpdate | PreviewPatch) -> dict[str, object]:
    answer = call.execute(replace(request, show_nested=call.query["show_nested"]))
    return {"resource_changes": views.resource_changes(answer["resource_changes"]), "plan": answer["plan"]}


def delete(call: RestCall) -> None:
    """Start to delete a stack; with `plan_digest`, only as the plan says.

    `retain`, which can be repeated, is the path of a resource whose object is retained. With `force`, objects that
    cannot be deleted are left behind.
    """
    query = call.query
    call.execute(
        DeleteStack(ref=call.ref, plan_digest=query["plan_digest"], retain=tuple(query["retain"]), force=query["force"])
    )


def preview_delete(call: RestCall) -> dict[str, object]:
    """Preview the deletion of a stack: the plan, and the snapshots that are deleted with it.

    The plan says which objects are gone already, or were changed, outside Stoker. With `refresh=none`, it goes by the
    record alone; with `all`, what is retained is compared, too.
    """
    query = call.query
    how: dict[str, Any] = {"retain": tuple(query["retain"]), "force": query["force"], "refresh": query["refresh"]}
    return {**call.execute(PreviewAction(ref=call.ref, action="delete", **how))}


def redirect(tail: str = "", named: str | None = None) -> Handler:
    """Return a handler that redirects from a stack's name, ID or ARN to its canonical URL, followed by `tail`.

    The ARN of a resource or of an event leads to its own URL.

    `named` is the stack's name if the route contains it literally.
    """

    def handler(call: RestCall) -> Reply:
        identifier, below = split_identifier(named or call.path["stack_name"])
        answer = call.execute(IdentifyStack(ref=by_name(identifier), show_deleted=call.method == "GET"))
        url = call.links.stack(answer["project_id"], answer["name"], answer["id"], below + tail)
        return Reply(headers={"Location": with_query(url, call.query_string)})

    return handler


def plain(kind: type[OfStack[object]]) -> Handler:
    """Return a handler that responds with the engine's result unchanged."""

    def handler(call: RestCall) -> object:
        return call.execute(kind(ref=call.ref))

    return handler


DEFINITION_QUERY = Query({"operation_id": Field(STRING)})


def of_definition(kind: type[OfDefinition[object]]) -> Handler:
    """Return a handler that shows a part of the stack's present definition, or of that as of an operation."""

    def handler(call: RestCall) -> object:
        return call.execute(kind(ref=call.ref, operation_id=call.query["operation_id"]))

    return handler


def action_rule(sent: Mapping[str, object] | None) -> str:
    """Return the policy rule of the action in the body."""
    if sent is None:
        raise absent_body()
    if len(sent) != 1 or not set(sent) <= set(ACTIONS):
        raise BadRequest(f"The body must have exactly one of these keys: {', '.join(ACTIONS)}.")
    return f"actions:{next(iter(sent))}"


def act(call: RestCall) -> dict[str, Any] | None:
    """Start the action in the body.

    `accept_drift` starts nothing: it records the live values of resources that differ from the cloud as those with
    which they were deployed, and lists them. `resources` in its value are the paths of these; by default, all.

    `{"retry": {"skip": [PATH]}}` continues without failed resources: their objects stay as they are.
    """
    ((action, sent),) = (call.sent or {}).items()
    options = sent if isinstance(sent, Mapping) else {}
    if action == ACCEPT:
        return _accept(call, options)
    digest = options.get("plan_digest")
    if digest is not None:
        digest = STRING.read(f"{action}.plan_digest", digest)
        if action not in PLANNED:
            raise BadRequest(f"The action {action} has no plan_digest; {', '.join(PLANNED)} have one.")
    skip, refresh = _skip_of(action, options), _refresh_of(action, options)
    call.execute(ActOnStack(ref=call.ref, action=action, plan_digest=digest, skip=skip, refresh=refresh))
    return None


def _skip_of(action: str, options: Mapping[str, object]) -> tuple[str, ...]:
    """Return the resources without which a retry in the body continues."""
    skip = options.get("skip")
    if skip is None:
        return ()
    if action != RETRY:
        raise BadRequest(f"The action {action} has no skip; {RETRY} has it.")
    return tuple(STRINGS.read(f"{action}.skip", skip))


def _refresh_of(action: str, options: Mapping[str, object]) -> str | None:
    """Return what an action in the body that has a plan compares with the cloud."""
    refresh = options.get("refresh")
    if refresh is not None and action not in PLANNED:
        raise BadRequest(f"The action {action} has no refresh; {', '.join(PLANNED)} have it.")
    return None if refresh is None else str(_REFRESH.read(f"{action}.refresh", refresh))


def _accept(call: RestCall, options: Mapping[str, object]) -> dict[str, object]:
    if unknown := sorted(options.keys() - {"resources"}):
        raise BadRequest(f"The action {ACCEPT} has no {unknown[0]!r}; it has resources.")
    paths = options.get("resources")
    resources = None if paths is None else STRINGS.read(f"{ACCEPT}.resources", paths)
    return {ACCEPT: call.execute(AcceptDrift(ref=call.ref, resources=resources))}


def drift(call: RestCall) -> dict[str, object]:
    """Compare the whole stack with the cloud, and return the plan that would correct the differences.

    With the ID of a `detection` that has ended, objects that it has read are not read again.
    """
    return {"plan": call.execute(PreviewPatch(ref=call.ref, converge=True, detection=call.query["detection"]))["plan"]}


def detect_drift(call: RestCall) -> dict[str, object]:
    """Begin to compare the whole stack with the cloud, in the background."""
    return {"drift_detection": {"id": call.execute(DetectDrift(ref=call.ref))["id"], "status": "IN_PROGRESS"}}


def show_detection(call: RestCall) -> dict[str, object]:
    """Show how far a comparison with the cloud is: how many objects were compared, and which of them differ."""
    detection_id = call.path["detection_id"]
    found = call.execute(ShowDriftDetection(detection_id=detection_id))
    if found["stack_id"] != call.ref.get("id"):
        raise EntityNotFound(f"There is no drift detection {detection_id} of this stack.")
    return {"drift_detection": views.drift_detection(found)}


def show_drift_watch(call: RestCall) -> dict[str, object]:
    """Show what the service does about drift by itself, and what its last look has found; no service is asked."""
    return {"drift_watch": views.drift_watch(call.execute(ShowDriftWatch(ref=call.ref)))}


def change_drift_watch(call: RestCall) -> dict[str, object]:
    """Choose what the service does about drift by itself: off, detect, repair, or default for the operator's choice."""
    mode = call.body["mode"]
    chosen = call.execute(ChangeDriftWatch(ref=call.ref, mode=None if mode == DEFAULT_MODE else mode))
    return {"drift_watch": views.drift_watch(chosen)}


def preview_act(call: RestCall) -> dict[str, object]:
    """Preview the action in the body: rollback, cancel_update or retry.

    The plan says which objects are gone, or were changed, outside Stoker; the action corrects them. With
    `{"rollback": {"refresh": "none"}}`, it goes by the record alone; with `all`, the whole stack is compared. The plan
    of `{"retry": {"skip": [PATH]}}` has the paths of all resources that it leaves as they are in `skipped`.
    """
    ((action, sent),) = (call.sent or {}).items()
    if action not in PLANNED:
        raise BadRequest(f"The action {action} has no preview; {', '.join(PLANNED)} have one.")
    options = sent if isinstance(sent, Mapping) else {}
    skip, refresh = _skip_of(action, options), _refresh_of(action, options)
    return {"plan": call.execute(PreviewAction(ref=call.ref, action=action, refresh=refresh, skip=skip))["plan"]}


def list_outputs(call: RestCall) -> dict[str, object]:
    """List the names and descriptions of the outputs."""
    return {"outputs": [views.output(view) for view in call.execute(ListOutputs(ref=call.ref))]}


def show_output(call: RestCall) -> dict[str, object]:
    """Show an output with its value, or with the error if it has none."""
    return {"output": views.output(call.execute(ShowOutput(ref=call.ref, key=call.path["output_key"])))}


def list_snapshots(call: RestCall) -> dict[str, object]:
    """List a stack's snapshots."""
    return {"snapshots": [views.snapshot(view) for view in call.execute(ListSnapshots(ref=call.ref))]}


def create_snapshot(call: RestCall) -> dict[str, object]:
    """Start to create a snapshot."""
    return views.snapshot(call.execute(CreateSnapshot(ref=call.ref, name=call.body["name"])))


def show_snapshot(call: RestCall) -> dict[str, object]:
    """Show a snapshot with its data."""
    view = call.execute(ShowSnapshot(ref=call.ref, snapshot_id=call.path["snapshot_id"]))
    return {"snapshot": views.snapshot(view)}


def delete_snapshot(call: RestCall) -> None:
    """Delete a snapshot."""
    call.execute(DeleteSnapshot(ref=call.ref, snapshot_id=call.path["snapshot_id"]))


def restore_snapshot(call: RestCall) -> None:
    """Start to restore a snapshot; with `plan_digest`, only as the plan says.

    `refresh` says what is compared with the cloud, and corrected: by default, what the plan has compared.
    """
    how = {"plan_digest": call.body["plan_digest"], "refresh": call.body["refresh"]}
    call.execute(RestoreSnapshot(ref=call.ref, snapshot_id=call.path["snapshot_id"], **how))


def preview_restore(call: RestCall) -> dict[str, object]:
    """Preview the restoration of a snapshot.

    The plan says which objects are gone, or were changed, outside Stoker; the restoration corrects them. With the
    `refresh` `none`, it goes by the record alone; with `all`, the whole stack is compared.
    """
    how = {"snapshot_id": call.path["snapshot_id"], "refresh": call.body["refresh"]}
    request = PreviewAction(ref=call.ref, action="restore", **how)
    return {"plan": call.execute(request)["plan"]}
