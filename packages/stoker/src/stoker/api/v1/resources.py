"""Resources of a stack and their events."""

from __future__ import annotations

from typing import Any

from stoker.api.requests import Body, Query
from stoker.api.v1 import views
from stoker.api.v1.call import Reply, RestCall
from stoker.api.v1.event_stream import HEADERS, PAGE, Subscription
from stoker.api.v1.links import link, next_page
from stoker.api.values import BOOLEAN, INTEGER, STRING, Choice, Field
from stoker.base.errors import EntityNotFound
from stoker.contract.events import ListEvents, ShowEvent
from stoker.contract.finding import FindOrphans, FindResources
from stoker.contract.resources import (
    ListResources,
    MarkResourceUnhealthy,
    ShowResource,
    ShowResourceMetadata,
    SignalResource,
)

INDEX_QUERY = Query(
    fields={"nested_depth": Field(INTEGER, default=0), "with_detail": Field(BOOLEAN, default=False)},
    filters=("type", "status", "name", "action", "id", "physical_resource_id"),
    strict=True,
)

FIND_QUERY = Query(
    fields={
        **dict.fromkeys(("text", "id", "name", "address", "type"), Field(STRING)),
        "global_tenant": Field(BOOLEAN, default=False),
        "limit": Field(INTEGER),
        "marker": Field(STRING),
    },
    strict=True,
)

SHOW_QUERY = Query({"with_attr": Field(STRING, repeatable=True)})

MARK_UNHEALTHY_BODY = Body(
    {"mark_unhealthy": Field(BOOLEAN, required=True), "resource_status_reason": Field(STRING, default="")}, strict=True
)

SIGNAL_BODY = Body({}, required=False)

EVENTS_QUERY = Query(
    fields={
        "limit": Field(INTEGER),
        "marker": Field(STRING),
        "sort_keys": Field(Choice("event_time", "resource_type"), repeatable=True),
        "sort_dir": Field(Choice("asc", "desc")),
        "nested_depth": Field(INTEGER, default=0),
        "operation_id": Field(STRING),
    },
    filters=("resource_status", "resource_action", "resource_name", "resource_type"),
)


STREAM_QUERY = Query(
    fields={"marker": Field(STRING), "nested_depth": Field(INTEGER, default=0)},
    filters=EVENTS_QUERY.filters,
    strict=True,
)

_EVENT_FIELDS = {
    "resource_status": "status",
    "resource_action": "action",
    "resource_name": "resource_name",
    "resource_type": "resource_type",
}


def index(call: RestCall) -> dict[str, object]:
    """List the resources of a stack, and of nested stacks down to `nested_depth`."""
    answer = call.execute(ListResources(ref=call.ref, **call.query))
    render = views.resource_in_detail if call.query["with_detail"] else views.resource
    places = {stack_id: views.StackLinks.of(place, call.links) for stack_id, place in answer["stacks"].items()}
    return {"resources": [render(view, places[view["stack_id"]]) for view in answer["resources"]]}


def find(call: RestCall) -> dict[str, object]:
    """Find the resources, in all stacks of the project, that have an object.

    The object is given by its ID, its name or an IP address, or the resource by its name: `text` is any of them. `type`
    narrows the search, or lists all resources of a type. `unsearchable` counts the resources whose objects' names and
    addresses are not recorded before their next change or check; it ends at `most_counted`.
    """
    if call.query["global_tenant"]:
        call.require("stacks:global_index")
    page = call.execute(FindResources(**call.query))
    body = {
        "resources": [views.found_resource(view, call.links) for view in page["resources"]],
        "unsearchable": page["unsearchable"],
        "most_counted": page["most_counted"],
    }
    if page["next"] is not None:
        body["links"] = [link(next_page(call.url, call.query_string, page["next"]), "next")]
    return body


def orphans(call: RestCall) -> dict[str, object]:
    """Find the objects that Stoker has made for resources of the project's stacks, and that no resource has any more.

    They are recognized by names that Stoker has chosen and its record confirms. The services are read as the caller.
    What is not known is listed with the status `unknown`: objects of a service that cannot be read, those of operations
    in progress, and names that nothing in the record confirms.
    """
    return {"orphans": call.execute(FindOrphans())}


def show(call: RestCall) -> dict[str, Any]:
    """Show a resource with its attributes."""
    view = call.execute(ShowResource(ref=call.ref, name=call.path["resource_name"], with_attr=call.query["with_attr"]))
    return {"resource": views.resource_in_detail(view, views.StackLinks.of(view, call.links))}


def metadata(call: RestCall) -> dict[str, Any]:
    """Show a resource's metadata."""
    return {"metadata": call.execute(ShowResourceMetadata(ref=call.ref, name=call.path["resource_name"]))}


def signal(call: RestCall) -> None:
    """Send a signal to a resource."""
    call.execute(SignalResource(ref=call.ref, name=call.path["resource_name"], details=call.sent))


def mark_unhealthy(call: RestCall) -> None:
    """Mark a resource unhealthy, so that the next update replaces it, or healthy again."""
    call.execute(MarkResourceUnhealthy(ref=call.ref, name=call.path["resource_name"], **call.body))


def events(call: RestCall) -> dict[str, Any]:
    """List the events of a stack, or of the resource in the URL.

    `operation_id` selects those that were recorded while an operation of the stack was in progress.
    """
    resource_name = call.path.get("resource_name")
    answer = call.execute(ListEvents(ref=call.ref, resource_name=resource_name, **call.query))
    if resource_name is not None and not answer:
        raise EntityNotFound(f"The resource {resource_name} of the stack {call.path['stack_name']} has no events.")
    with_root = call.query["nested_depth"] > 0
    return {"events": [views.event_summary(view, call.links, with_root=with_root) for view in answer]}


def event_stream(call: RestCall) -> Reply:
    """Stream the events of a stack as server-sent events: recorded ones, then new ones."""
    depth, filters = call.query["nested_depth"], call.query["filters"]

    def history(marker: str | None) -> Any:
        return call.execute(ListEvents(ref=call.ref, marker=marker, limit=PAGE, nested_depth=depth, filters=filters))

    subscription = Subscription(
        stack_id=call.path["stack_id"],
        depth=depth,
        marker=call.last_event or call.query["marker"],
        history=history,
        selects=lambda view: all(view[_EVENT_FIELDS[name]] in values for name, values in filters.items()),
        render=lambda view: views.event_summary(view, call.links, with_root=depth > 0),
        wake=call.wake,
    )
    return Reply(headers=HEADERS, stream=call.streams.open(subscription))


def show_event(call: RestCall) -> dict[str, object]:
    """Show an event with the resource's properties at that time."""
    view = call.execute(
        ShowEvent(ref=call.ref, resource_name=call.path["resource_name"], event_id=call.path["event_id"])
    )
    return {"event": views.event(view, call.links)}
