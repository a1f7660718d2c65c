"""One resource type through its life: each verb with its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Any

import requests

from stoker.plugins.capabilities import Capability, Resumable, SnapshotParticipant, Suspendable
from tools.realcloud.background import repeated
from tools.realcloud.cases import THING, Case
from tools.realcloud.engine import Refused, Stacks, Stuck
from tools.realcloud.inventory import STACK_PREFIX

_SIGNAL_SECONDS = 2.0


class Verb(StrEnum):
    """What is done with a resource, in this order."""

    CREATE = "create"
    CHECK = "check"
    UPDATE = "update"
    CONVERGE = "converge"
    REPLACE = "replace"
    SUSPEND = "suspend"
    RESUME = "resume"
    SNAPSHOT = "snapshot"
    RESTORE = "restore"
    DELETE = "delete"


@dataclass
class Outcome:
    """The outcome of a verb: `passed`, `failed`, or `none` where the type does not have it; and the reason.

    `declared` says that the reason follows from the declaration of the type.
    """

    status: str
    reason: str = ""
    seconds: float = 0.0
    declared: bool = False


@dataclass
class Result:
    """The outcomes for a type, and objects that it left."""

    type_name: str
    outcomes: dict[Verb, Outcome] = field(default_factory=dict)
    absent: str = ""
    """Why the type cannot run on this cloud."""
    beside_others: tuple[str, ...] = ()
    """The failures of a first run beside other types, after which the type has run again alone."""

    @property
    def failures(self) -> list[str]:
        """A line for each verb that has failed."""
        failed = ((verb, outcome) for verb, outcome in self.outcomes.items() if outcome.status == "failed")
        return [f"{self.type_name} {verb}: {outcome.reason}" for verb, outcome in failed]


_CAPABILITIES: Mapping[Verb, type[Capability]] = {Verb.SUSPEND: Suspendable, Verb.RESUME: Resumable}


def missing_verbs(case: Case) -> Mapping[Verb, str]:
    """The verbs that do not run: those that the case skips or the type does not have, each with the reason."""
    kind = case.kind
    missing = {verb: "Nothing is suspended." for verb, needed in _CAPABILITIES.items() if not isinstance(kind, needed)}
    if not kind.checkable:
        missing[Verb.CHECK] = "The type has no check."
    if kind.copy is None and not isinstance(kind, SnapshotParticipant):
        missing |= dict.fromkeys((Verb.SNAPSHOT, Verb.RESTORE), "The type has no content to save.")
    return missing | {Verb(verb): reason for verb, reason in case.skipped.items()}


class Failed(Exception):
    """A verb has not done what it should do."""


class Walk:
    """Runs one case. `files` are the templates that examples name."""

    def __init__(self, engine: Stacks, case: Case, files: Mapping[str, str]) -> None:
        self._engine, self._case, self._files = engine, case, files
        self._stack = ""
        self._template = case.template
        self._saved = ""

    def run(self) -> Result:
        """Run all verbs; the stack is deleted whatever happens."""
        result = Result(self._case.type_name)
        missing = missing_verbs(self._case)
        for verb in Verb:
            if verb in missing:
                result.outcomes[verb] = Outcome("none", missing[verb], declared=verb not in self._case.skipped)
            elif self._stack or verb is Verb.CREATE:
                result.outcomes[verb] = self._tried(getattr(self, f"_{verb}"))
                if verb is Verb.CREATE and result.outcomes[verb].status == "failed":
                    break
        if self._stack and Verb.DELETE not in result.outcomes:
            result.outcomes[Verb.DELETE] = self._tried(self._delete)
        return result

    def _tried(self, act: Callable[[], None]) -> Outcome:
        began = time.monotonic()
        try:
            act()
        except (Failed, Refused, Stuck) as error:
            return Outcome("failed", str(error), time.monotonic() - began)
        return Outcome("passed", "", time.monotonic() - began)

    # -- verbs --------------------------------------------------------------------------------------------------------

    def _create(self) -> None:
        name = f"{STACK_PREFIX}{self._case.slug}"
        self._engine.clear(name)
        self._stack = self._engine.create(name, self._template, self._files)
        with self._signals():
            self._expect("CREATE_COMPLETE")

    def _check(self) -> None:
        self._engine.act(self._stack, "check")
        self._expect("CHECK_COMPLETE")

    def _update(self) -> None:
        before = self._thing()
        assert self._case.update is not None, self._case
        self._updated(self._case.changed(self._case.update))
        after = self._thing()
        if after["creation_time"] != before["creation_time"]:
            raise Failed("the object was replaced")
        if after["resource_status"] != "UPDATE_COMPLETE":
            raise Failed(f"nothing was updated: {after['resource_status']}")

    def _converge(self) -> None:
        """Nobody has changed the objects, so that nothing differs from the template."""
        before = self._resources()
        self._engine.update(self._stack, self._template, self._files, converge=True)
        self._expect("UPDATE_COMPLETE")
        changed = sorted(name for name, seen in self._resources().items() if seen != before.get(name))
        if changed:
            raise Failed(f"differs from its template right after its creation: {', '.join(changed)}")

    def _replace(self) -> None:
        before = self._thing()
        if self._case.replace is not None:
            self._updated(self._case.changed(self._case.replace))
        else:
            unhealthy = {"mark_unhealthy": True, "resource_status_reason": "to be replaced"}
            self._engine.send("PATCH", f"{self._stack}/resources/{THING}", json=unhealthy)
            self._updated(self._template)
        after = self._thing()
        same = all(after[name] == before[name] for name in ("creation_time", "physical_resource_id"))
        if same and not self._case.kind.local:
            raise Failed("the object was not replaced")

    def _suspend(self) -> None:
        self._engine.act(self._stack, "suspend")
        self._expect("SUSPEND_COMPLETE")

    def _resume(self) -> None:
        self._engine.act(self._stack, "resume")
        self._expect("RESUME_COMPLETE")

    def _snapshot(self) -> None:
        made = self._engine.send("POST", f"{self._stack}/snapshots", json={"name": "saved"})
        self._saved = f"{self._stack}/snapshots/{made['id']}"
        self._expect("SNAPSHOT_COMPLETE")
        shown = self._engine.send("GET", self._saved)["snapshot"]
        if shown["status"] != "COMPLETE":
            raise Failed(f"the snapshot is {shown['status']}: {shown['status_reason']}")

    def _restore(self) -> None:
        if not self._saved:
            raise Failed("there is no snapshot")
        self._engine.send("POST", f"{self._saved}/restore")
        with self._signals():
            self._expect("RESTORE_COMPLETE")
        self._engine.send("DELETE", self._saved)

    def _delete(self) -> None:
        stack, self._stack = self._stack, ""
        status, reason = self._engine.delete(stack)
        if status != "DELETE_COMPLETE":
            raise Failed(f"{status}: {reason}")

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _updated(self, template: Mapping[str, Any]) -> None:
        self._template = dict(template)
        self._engine.update(self._stack, template, self._files)
        with self._signals():
            self._expect("UPDATE_COMPLETE")

    def _expect(self, expected: str) -> None:
        status, reason = self._engine.ended(self._stack)
        if status != expected:
            raise Failed(f"{status}: {reason}")

    def _thing(self) -> dict[str, Any]:
        return self._engine.resource(self._stack, THING)

    def _resources(self) -> dict[str, tuple[str, str]]:
        """Name → physical ID and time of the last update of each resource; nested stacks are updated always."""
        listed = self._engine.send("GET", f"{self._stack}/resources")["resources"]
        return {
            one["resource_name"]: (one["physical_resource_id"], "" if self._nested(one) else one["updated_time"])
            for one in listed
        }

    @staticmethod
    def _nested(resource: Mapping[str, Any]) -> bool:
        remote = resource["resource_type"] == "OS::Heat::Stack"
        return remote or any(link["rel"] == "nested" for link in resource["links"])

    def _upload(self, signal: Mapping[str, Any]) -> None:
        """Write a signal to the signed URL that is an attribute of its receiver, once that is there."""
        receiver, attribute = str(self._case.signal), str(self._case.signal_url)
        query = {"with_attr": attribute}
        shown = self._engine.send("GET", f"{self._stack}/resources/{receiver}", params=query)["resource"]
        if shown["resource_status"] == "CREATE_COMPLETE":
            requests.put(shown["attributes"][attribute], json=dict(signal), timeout=30)

    def _signals(self) -> AbstractContextManager[None]:
        """Send signals to the resource that others wait for, until the body ends."""
        if self._case.signal is None:
            return nullcontext()
        numbers = count(1)
        return repeated(_SIGNAL_SECONDS, lambda: self._signal(str(next(numbers))))

    def _signal(self, number: str) -> None:
        details = {"id": number, "status": "SUCCESS", "reason": "done", "data": number}
        if self._case.signal_url is not None:
            self._upload(details)
            return
        amazon = {"UniqueId": number, "Status": "SUCCESS", "Reason": "done", "Data": number}
        for body in (details, amazon):
            with suppress(Refused):
                self._engine.send("POST", f"{self._stack}/resources/{self._case.signal}/signal", json=body)
