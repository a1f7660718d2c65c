"""Client of the Orchestration REST API for the commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from stoker.cli.client.outages import Outages
from stoker.cli.client.refusals import Answer, Refused, refusal
from stoker.cli.client.server_sent import messages
from stoker.cli.client.snapshots import Snapshots, segment
from stoker.cli.terminal.errors import CommandFailed, NoSuchResource, NoSuchStack

if TYPE_CHECKING:
    from keystoneauth1.adapter import Adapter


NESTED = 20
"""Depth of nested stacks that commands request; more than the service allows."""

_PAGE = 500
_STREAM = "text/event-stream"
_NOT_FOUND = 404
_NOT_ACCEPTABLE = 406
_WITHOUT_OUTPUTS = {"resolve_outputs": "false"}


POLL_SECONDS = 0.4
"""Pause before a service that does not stream events is polled again."""
_FIRST_PAUSE = 0.05
"""Pause before something that has just begun is asked for, in seconds; doubled each time."""


class StackClient:
    """The stacks of one project. Every method raises Refused if the service returns an error.

    Requests that only read are repeated while the service does not answer, as `outages` decides. `auth_url` is the
    address of the identity service that it was found by.
    """

    def __init__(self, adapter: Adapter, timeout: float, outages: Outages | None = None, auth_url: str = "") -> None:
        self.auth_url = auth_url
        self._adapter = adapter
        self._timeout = timeout
        self.outages = outages or Outages()

    def stacks(self, query: Mapping[str, Any] | None = None) -> Iterator[Answer]:
        """Yield the project's stacks, page by page."""
        page = {"limit": _PAGE, **(query or {})}
        while True:
            stacks = self.call("GET", "/stacks", query=page)["stacks"]
            yield from stacks
            if len(stacks) < page["limit"]:
                return
            page["marker"] = stacks[-1]["id"]

    def found(self, query: Mapping[str, object]) -> Iterator[Answer]:
        """Yield pages of resources that match in all stacks: `resources`, and what could not be searched."""
        page: Mapping[str, object] | None = {"limit": _PAGE, **query}
        while page is not None:
            answer: Answer = self.call("GET", "/resources", query=page)
            yield answer
            following = [link["href"] for link in answer.get("links", ()) if link["rel"] == "next"]
            page = dict(parse_qsl(urlsplit(following[0]).query)) if following else None

    def orphans(self) -> list[Answer]:
        """Return the objects that Stoker has made and no resource has, and those of which that is not known."""
        orphans: list[Answer] = self.call("GET", "/orphans")["orphans"]
        return orphans

    def generated(self, query: Mapping[str, object]) -> Answer:
        """Return a template of the objects of the project, with its environment and what was left out."""
        answer: Answer = self.call("GET", "/generated_template", query=query)["generated_template"]
        return answer

    def generated_types(self) -> frozenset[str]:
        """Return the types whose objects can be generated."""
        return frozenset(self.call("GET", "/generated_template/resource_types")["resource_types"])

    def create_refactor(self, body: Mapping[str, object]) -> Answer:
        """Examine a refactoring, and return it as it is stored."""
        refactor: Answer = self.call("POST", "/refactors", body)["refactor"]
        return refactor

    def refactors(self) -> list[Answer]:
        """Return the refactorings of the project, the latest first."""
        refactors: list[Answer] = self.call("GET", "/refactors")["refactors"]
        return refactors

    def refactor(self, identifier: str) -> Answer:
        """Return a refactoring."""
        refactor: Answer = self.call("GET", f"/refactors/{segment(identifier)}")["refactor"]
        return refactor

    def refactor_actions(self, identifier: str) -> Answer:
        """Return what a refactoring does: the `stacks` that it creates, and the `moves`."""
        actions: Answer = self.call("GET", f"/refactors/{segment(identifier)}/actions")
        return actions

    def execute_refactor(self, identifier: str) -> Answer:
        """Carry a refactoring out, and return it."""
        done: Answer = self.call("POST", f"/refactors/{segment(identifier)}/execute")["refactor"]
        return done

    def exports(self) -> list[Answer]:
        """Return the values that stacks of the project export, and the stacks that import them.

        A service that does not list them, has none.
        """
        try:
            exports: list[Answer] = self.call("GET", "/exports")["exports"]
        except Refused as error:
            if error.status == _NOT_FOUND:
                return []
            raise
        return exports

    def another(self) -> StackClient:
        """Return a client of the same service for another thread, which bridges outages by itself."""
        return StackClient(self._adapter, self._timeout, Outages(), self.auth_url)

    def resource_types(self) -> list[str]:
        """Return the names of all types."""
        return list(self.call("GET", "/resource_types")["resource_types"])

    def stack(self, name: str) -> Stack:
        """Return a stack by name or ID, without the values of its outputs. Raises NoSuchStack."""
        return self._found(name, _WITHOUT_OUTPUTS)

    def existing(self, name: str) -> Stack | None:
        """Return the same; None if there is none."""
        try:
            return self.stack(name)
        except NoSuchStack:
            return None

    def stack_with_outputs(self, name: str) -> Stack:
        """Return a stack by name or ID, with the values of its outputs. Raises NoSuchStack."""
        return self._found(name, {})

    def _found(self, name: str, query: Mapping[str, str]) -> Stack:
        try:
            return Stack(self, self.call("GET", f"/stacks/{segment(name)}", query=query)["stack"])
        except Refused as error:
            if error.status == _NOT_FOUND:
                raise NoSuchStack(f"There is no stack {name}.") from None
            raise

    def create(self, body: Mapping[str, object]) -> Stack:
        """Start the creation of a stack."""
        return self.stack(self.call("POST", "/stacks", body)["stack"]["id"])

    def preview(self, body: Mapping[str, object]) -> Answer:
        """The plan of `create`."""
        plan: Answer = self.call("POST", "/stacks/preview", body)["stack"]["plan"]
        return plan

    def validate(self, body: Mapping[str, object]) -> Answer:
        """The facts about a template: its description, and its parameters by name."""
        facts: Answer = self.call("POST", "/validate", body)
        return facts

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        """Send a request about the project, such as `GET /change_requests`; return the JSON data of the answer."""
        response = self._request(path, method, json=body, params=query)
        if response.status_code < 400:
            return response.json() if response.content else None
        raise refusal(response)

    def _request(self, path: str, method: str, **options: object) -> Any:
        def send() -> Any:
            return self._adapter.request(path, method, timeout=self._timeout, **options)

        return self.outages.bridged(send, reads=method == "GET")

    def stream(self, stack: Answer, tail: str, query: Mapping[str, object], last: str | None) -> Any:
        """Request a stream of server-sent events about a stack, after the event `last`.

        Returns an open response, or None if the service does not stream them.
        """
        headers = {"Accept": _STREAM, **({"Last-Event-ID": last} if last else {})}
        response = self._request(_path(stack) + tail, "GET", params=query, headers=headers, stream=True)
        good = response.status_code < 400
        if good and response.headers.get("Content-Type", "").partition(";")[0] == _STREAM:
            return response
        with response:
            if good or response.status_code == _NOT_ACCEPTABLE:
                return None
            raise refusal(response)

    def below(self, stack: Answer, tail: str, query: Mapping[str, object] | None = None) -> Any:
        """GET something that hangs on a stack."""
        return self.call("GET", _path(stack) + tail, query=query)

    def send(
        self,
        method: str,
        stack: Answer,
        tail: str = "",
        body: Mapping[str, object] | None = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        """Change a stack or one of its subresources."""
        return self.call(method, _path(stack) + tail, body, query)


def _update_method(body: Mapping[str, object]) -> str:
    """Return the method of an update: a PUT replaces the definition, a PATCH begins with the one as of an operation."""
    return "PATCH" if "as_of" in body else "PUT"


class Stack:
    """A stack at the time when it was read; `facts` is the response of the service.

    `shown` tells whether the terminal shows the cause of a failure, which an event of the stack reports, already in the
    tree of the action that has ended.
    """

    def __init__(self, service: StackClient, facts: Answer) -> None:
        self._service = service
        self.facts = facts
        self.shown: Callable[[Answer], bool] = lambda _failure: False

    @property
    def outages(self) -> Outages:
        """How outages of the service are bridged."""
        return self._service.outages

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.facts["stack_name"])

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.facts["id"])

    @property
    def state(self) -> str:
        """`<ACTION>_<STATUS>`."""
        return str(self.facts["stack_status"])

    @property
    def busy(self) -> bool:
        """Whether an action is in progress."""
        return self.state.endswith("_IN_PROGRESS")

    def reload(self) -> Stack:
        """Read the stack again, without the values of its outputs."""
        return Stack(self._service, self._service.below(self.facts, "", _WITHOUT_OUTPUTS)["stack"])

    def with_outputs(self) -> Stack:
        """Read the stack again, with the values of its outputs."""
        return Stack(self._service, self._service.below(self.facts, "")["stack"])

    def update(self, body: Mapping[str, object]) -> None:
        """Start an update to the definition in `body`."""
        self._service.send(_update_method(body), self.facts, body=body)

    def preview_update(self, body: Mapping[str, object]) -> Answer:
        """The plan of `update`."""
        plan: Answer = self._service.send(_update_method(body), self.facts, "/preview", body)["plan"]
        return plan

    def drift(self, on_progress: Callable[[Answer], None] = lambda _detection: None) -> Answer:
        """The plan that brings the cloud back to the present definition; the service asks the cloud.

        `on_progress` is given the detection each time it has been asked how far it is. Raises CommandFailed.
        """
        path = "/drift/detections"
        detection: Answer = self._service.send("POST", self.facts, path)["drift_detection"]
        pause = _FIRST_PAUSE
        while detection["status"] == "IN_PROGRESS":
            time.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS)
            detection = self._service.below(self.facts, f"{path}/{detection['id']}")["drift_detection"]
            on_progress(detection)
        if detection["status"] == "FAILED":
            raise CommandFailed(f"The stack {self.name} could not be compared with the cloud: {detection['reason']}")
        plan: Answer = self._service.below(self.facts, "/drift", {"detection": detection["id"]})["plan"]
        return plan

    def drift_watch(self, mode: str | None = None) -> Answer:
        """What the service does about drift by itself, and its last look; with a `mode`, that is chosen first."""
        method, body = ("PATCH", {"mode": mode}) if mode is not None else ("GET", None)
        answer: Answer = self._service.send(method, self.facts, "/drift/watch", body)["drift_watch"]
        return answer

    def correct(self, digest: str | None = None) -> None:
        """Start to bring the cloud back to the present definition; with the digest of a plan, only as the plan says."""
        body = {"converge": True, **({"plan_digest": digest} if digest else {})}
        self._service.send("PATCH", self.facts, body=body)

    def accept_drift(self, resources: Sequence[str]) -> list[Answer]:
        """Record the live values of resources at these paths, by default of all that differ; what was and was not."""
        options = {"resources": list(resources)} if resources else None
        answer: list[Answer] = self._service.send("POST", self.facts, "/actions", {"accept_drift": options})[
            "accept_drift"
        ]
        return answer

    def delete(self, digest: str | None = None, options: Mapping[str, object] | None = None) -> None:
        """Start its deletion; with the digest of a plan, only as the plan says. `options` are `retain` and `force`."""
        query = {**(options or {}), **({"plan_digest": digest} if digest else {})}
        self._service.send("DELETE", self.facts, query=query or None)

    def preview_delete(self, options: Mapping[str, object] | None = None) -> Answer:
        """The plan of `delete`, and the `snapshots` that are deleted with it. `options` are those of `delete`, and
        `refresh`, the objects that are compared with the cloud: "none", "changes" (all that are deleted) or "all".
        """
        answer: Answer = self._service.send("DELETE", self.facts, "/preview", query=options or None)
        return answer

    def act(self, action: str, digest: str | None = None, skip: Sequence[str] = (), refresh: str | None = None) -> None:
        """Start an action: suspend, resume, check, cancel_update, cancel_without_rollback, retry or rollback.

        With the digest of a plan, which only a retry and the actions that roll back have, only as the plan says;
        `refresh` and `skip` are those of `preview`.
        """
        options = {**({"plan_digest": digest} if digest else {}), **({"skip": list(skip)} if skip else {})}
        options |= {"refresh": refresh} if refresh else {}
        self._service.send("POST", self.facts, "/actions", {action: options or None})

    def preview(self, action: str, refresh: str, skip: Sequence[str] = ()) -> Answer:
        """The plan of the action `rollback` or `retry`, with the objects that are compared with the cloud: "none",
        "changes" or "all". A retry continues without the resources at the paths `skip`.
        """
        options = {"refresh": refresh, **({"skip": list(skip)} if skip else {})}
        answer: Answer = self._service.send("POST", self.facts, "/actions/preview", {action: options})
        return answer

    def operations(self) -> Iterator[Answer]:
        """Yield its operations, newest first."""
        marker: str | None = None
        while True:
            query = {"limit": _PAGE, **({"marker": marker} if marker else {})}
            operations = self._service.below(self.facts, "/operations", query)["operations"]
            yield from operations
            if len(operations) < _PAGE:
                return
            marker = operations[-1]["id"]

    def operation(self, identifier: str) -> Answer:
        """One of its operations, with the plan."""
        answer: Answer = self._service.below(self.facts, f"/operations/{segment(identifier)}")["operation"]
        return answer

    def resource(self, name: str) -> Answer:
        """One of its resources, with the attributes."""
        answer: Answer = self._of(name, lambda path: self._service.below(self.facts, path))["resource"]
        return answer

    def properties(self, name: str) -> Answer:
        """The properties that one of its resources had at its last event; hidden values are redacted."""
        path, query = f"/resources/{segment(name)}/events", {"limit": 1, "sort_dir": "desc"}
        for row in self._service.below(self.facts, path, query)["events"]:
            event = self._service.below(self.facts, f"{path}/{segment(row['id'])}")["event"]
            properties: Answer = event.get("resource_properties") or {}
            return properties
        return {}

    def live_object(self, name: str) -> Answer:
        """What the service shows of the object of one of its resources; nothing for types without that."""
        path, query = f"/resources/{segment(name)}", {"with_attr": "show"}
        shown = self._service.below(self.facts, path, query)["resource"].get("attributes", {}).get("show")
        return shown if isinstance(shown, dict) else {}

    def metadata(self, name: str) -> Answer:
        """The metadata of one of its resources."""
        answer: Answer = self._of(name, lambda path: self._service.below(self.facts, f"{path}/metadata"))["metadata"]
        return answer

    def signal(self, name: str, data: Mapping[str, object] | None) -> None:
        """Send a signal to one of its resources."""
        self._of(name, lambda path: self._service.send("POST", self.facts, f"{path}/signal", data))

    def mark(self, name: str, unhealthy: bool, reason: str) -> None:
        """Mark one of its resources unhealthy, so that the next update replaces it, or remove the mark."""
        body = {"mark_unhealthy": unhealthy, "resource_status_reason": reason}
        self._of(name, lambda path: self._service.send("PATCH", self.facts, path, body))

    def _of(self, name: str, request: Callable[[str], object]) -> Any:
        """Return the answer to a request with the path of a resource. Raises NoSuchResource."""
        try:
            return request(f"/resources/{segment(name)}")
        except Refused as error:
            known = [row["resource_name"] for row in self.resources(0)] if error.status == _NOT_FOUND else [name]
            if name in known:
                raise
            raise NoSuchResource(f"{self.name} has no resource {name}; it has {', '.join(known) or 'none'}.") from None

    def environment(self, operation: str | None = None) -> Answer:
        """Its environment, now or as of an operation."""
        return self._definition("/environment", operation)

    def files(self, operation: str | None = None) -> Answer:
        """The files that came with its template, now or as of an operation."""
        return self._definition("/files", operation)

    def _definition(self, path: str, operation: str | None) -> Answer:
        data: Answer = self._service.below(self.facts, path, {"operation_id": operation} if operation else None)
        return data

    def resources(self, depth: int = NESTED) -> list[Answer]:
        """Its resources and those of nested stacks down to `depth`."""
        rows: list[Answer] = self._service.below(self.facts, "/resources", {"nested_depth": depth})["resources"]
        return rows

    def events(self, marker: str | None = None, depth: int = NESTED) -> Iterator[Answer]:
        """Yield its events and those of nested stacks down to `depth`, oldest first, after the event `marker`."""
        while True:
            query = {"nested_depth": depth, "limit": _PAGE, **({"marker": marker} if marker else {})}
            events = self._service.below(self.facts, "/events", query)["events"]
            yield from events
            if len(events) < _PAGE:
                return
            marker = events[-1]["id"]

    def watch(self, marker: str | None = None, depth: int = NESTED) -> Generator[Answer | None, None, None]:
        """Like `events`, without an end: each event as it is recorded, and None in every pause.

        Uses a stream of events if the service offers one, and otherwise polls.
        """
        while True:
            response = self._service.stream(self.facts, "/events", {"nested_depth": depth}, marker)
            if response is None:
                break
            pause = POLL_SECONDS
            with response:
                for message in messages(response):
                    if message.data is not None:
                        marker = message.data["id"]
                    pause = message.retry or pause
                    yield message.data
            time.sleep(pause)
        while True:
            for event in self.events(marker, depth):
                marker = event["id"]
                yield event
            yield None
            time.sleep(POLL_SECONDS)

    def last_event(self) -> str | None:
        """The id of the newest event."""
        query = {"nested_depth": NESTED, "limit": 1, "sort_dir": "desc"}
        events = self._service.below(self.facts, "/events", query)["events"]
        return events[0]["id"] if events else None

    def template(self, operation: str | None = None) -> Answer:
        """Its template, now or as of an operation."""
        return self._definition("/template", operation)

    def outputs(self) -> list[Answer]:
        """Its outputs with their values."""
        return list(self.with_outputs().facts.get("outputs") or [])

    @property
    def snapshots(self) -> Snapshots:
        """Its snapshots."""
        return Snapshots(self._service, self.facts)

    def export(self) -> Answer:
        """Its document, from which the same or another service can adopt its objects."""
        data: Answer = self._service.below(self.facts, "/export")
        return data

    def abandon(self) -> Answer:
        """Remove its record without deleting an object; return its document."""
        data: Answer = self._service.send("DELETE", self.facts, "/abandon")
        return data


def setting_path(stack: Answer | None, name: str) -> str:
    """Return the path of a setting of a stack or, without one, of all stacks of the project."""
    return f"/{name}" if stack is None else f"{_path(stack)}/settings/{name}"


def _path(stack: Answer) -> str:
    return f"/stacks/{segment(stack['stack_name'])}/{segment(stack['id'])}"
