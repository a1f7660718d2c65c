"""Perform a scenario in a sandbox of its own, with a few disruptions, and find its outcome."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Row

from stoker.authoring.plan_steps import is_retained
from stoker.base.errors import NotFound, StokerError
from stoker.engine.records.beginnings import time_limit
from stoker.engine.settings import EngineSettings
from stoker.plugins.capabilities import ParentInAnotherService
from stoker.plugins.resource import ResourceType
from stoker.store.records import STACK_TYPE
from stoker.testing.cloud_objects import OUTLIVING
from stoker.testing.cloud_objects import ObjectKind as ObjectKind
from stoker.testing.existing_objects import create_existing_objects
from stoker.testing.rehearsal.disrupted_sandbox import DatabaseCopy, DisruptedSandbox, EngineDied
from stoker.testing.rehearsal.disruptions import Disruption, Script
from stoker.testing.rehearsal.guests import UNSUPPORTED, WAITING, Guests
from stoker.testing.rehearsal.scenario import (
    CREATE,
    DELETE,
    NAME,
    UNCHANGED,
    UPDATE,
    Failure,
    LeftObject,
    Outcome,
    Phase,
    Request,
    Scenario,
    Step,
    is_scaling,
)
from stoker.testing.sandbox import Definition, by_path

_REF: Mapping[str, Any] = {"name": NAME, "id": None}
_DEPTH = 20
_POLL = 1.0
_GUESTS = 5
"""Polls between two looks of the guests at what waits."""
_SETTLED = 10.0
"""Seconds after an operation in which the engine removes what nobody needs any more."""
_TIMEOUT = 900.0
"""Seconds after which the engine has removed whatever it still had to remove."""
_LONGEST = 6 * 3600.0
"""Seconds after which an operation is given up: longer than the time limits of stacks."""
_COOLDOWN = 3600.0
"""Seconds before a scaling policy is signalled: longer than cooldowns usually are."""
_POLICIES = ("deletion_policy", "DeletionPolicy", "update_replace_policy", "UpdateReplacePolicy", "external_id")
_COPIES = frozenset({("cinder", "backups"), ("cinder", "snapshots"), ("glance", "images"), ("trove", "backups")})
"""What deletion policies make of the content of objects."""
_EXISTING = {"existing_parameters": True, "refresh": "changes"}

Objects = dict[str, tuple[str, str]]
"""Type and ID of objects by the path of their resources."""


def definitions_of(scenario: Scenario) -> dict[str, Definition]:
    """Read what the stack is to be in each phase. Raises Invalid for files that cannot be read."""
    return {phase: scenario.definition(phase) for phase in scenario.phases if phase in (CREATE, UPDATE)}


def perform(scenario: Scenario, definitions: Mapping[str, Definition]) -> Outcome:
    """Perform a scenario without disruptions."""
    with ScenarioRun(scenario, definitions) as run:
        run.until(CREATE)
        return run.end()


class ScenarioRun:
    """A run of a scenario: first without disruptions up to a phase, then with some until its end.

    After `until` and `save`, forks of this process can each `resume` it, and end it with other disruptions.
    """

    def __init__(self, scenario: Scenario, definitions: Mapping[str, Definition]) -> None:
        self._sandbox = DisruptedSandbox(Script(), scenario.timings)
        create_existing_objects(self._sandbox.cloud, scenario.cloud)
        self._run = _Run(self._sandbox, scenario, definitions)
        self._saved: tuple[DatabaseCopy, tuple[object, ...]] | None = None
        self._error = ""

    def __enter__(self) -> ScenarioRun:
        return self

    def __exit__(self, *failure: object) -> None:
        self._sandbox.close()

    def until(self, phase: str) -> None:
        """Run the phases before this one."""
        self._carry_out(self._run.until(phase))

    def save(self) -> None:
        """Let forks of this process resume the run."""
        self._saved = self._sandbox.save(), random.getstate()

    def resume(self) -> None:
        """Continue the saved run in a fork of this process, whatever other forks have done to the database.

        Python seeds `random` again in each fork; pauses between attempts would differ each time.
        """
        assert self._saved is not None
        database, random_state = self._saved
        database.restore()
        random.setstate(random_state)

    def end(self, disruptions: Sequence[Disruption] = ()) -> Outcome:
        """Run what is left. What comes after the phase of the last disruption is left out, but for the deletion."""
        script, run = self._sandbox.script, self._run
        script.disruptions = disruptions
        self._carry_out(run.end({disruption.phase for disruption in disruptions}))
        if self._error:
            return Outcome(run.phases, error=self._error)
        met = [
            {"phase": disruption.phase, "call": disruption.call, "kind": disruption.kind} for disruption in script.met
        ]
        return Outcome(run.phases, run.left, run.types, met, self._sandbox.engines)

    def _carry_out(self, work: Coroutine[Any, Any, None]) -> None:
        if self._error:
            work.close()
            return
        try:
            self._sandbox.perform(work)
        except StokerError as error:
            self._error = error.message


class _Run:
    """A run. `phases` and `left` are what has come of it so far; `types` are the types of resources by path."""

    def __init__(self, sandbox: DisruptedSandbox, scenario: Scenario, definitions: Mapping[str, Definition]) -> None:
        self.phases: list[Phase] = []
        self.left: list[LeftObject] = []
        self.types: dict[str, str] = {}
        self._sandbox = sandbox
        self._scenario = scenario
        self._definitions = definitions
        self._guests = Guests(sandbox)
        self._limit = time_limit(EngineSettings(), scenario.timeout)
        self._retained: set[str] = set()
        self._before: Mapping[ObjectKind, set[str]] = {}
        self._has_copies = False
        texts = [text for definition in definitions.values() for _, text in definition.sources.named().values()]
        self._ended_at = 0.0
        self._has_policies = any(policy in text for policy in _POLICIES for text in texts)

    async def until(self, phase: str) -> None:
        """Run the phases before this one; one that fails is the last of them."""
        await asyncio.sleep(_SETTLED)  # services make ports and the like of their own
        self._before = self._sandbox.contents.objects()
        *phases, _ = self._scenario.phases
        await self._run_phases(phases[: self._scenario.phases.index(phase)])

    async def end(self, disturbed: Collection[str]) -> None:
        """Run the phases up to the last one that is disturbed, all of them if none is, and the deletion."""
        *phases, deletion = self._scenario.phases
        if disturbed and deletion not in disturbed:
            phases = phases[: 1 + max(map(phases.index, disturbed))]
        await self._run_phases(phases[len(self.phases) :])
        await self._run_phase(deletion)
        if self.phases[-1].state == "DELETED" or self.phases[-1].again == "DELETED":
            self.left = list(self._left(self._before))
            if self.left:  # the engine tries deletions again for a while
                await asyncio.sleep(_TIMEOUT)
                self.left = list(self._left(self._before))

    async def _run_phases(self, names: Iterable[str]) -> None:
        """Run phases; after one that fails, there are no others."""
        for name in names:
            if self.phases and not self.phases[-1].succeeded:
                return
            if is_scaling(name):
                await asyncio.sleep(_COOLDOWN)
            await self._run_phase(name)

    async def _run_phase(self, name: str) -> None:
        data_before = self._data(await self._rows())
        if name == DELETE and self._has_policies:
            await self._note_retained()
        seen, began = len(self._sandbox.contents.events()), self._sandbox.clock.now()
        self._sandbox.script.begin(name)
        self._guests.waited.clear()
        await self._request_until_accepted(name)
        await self._wait_for_end()
        state, reason = await self._state()
        script, again = self._sandbox.script, ""
        requests, answers, commits = script.requests, script.answers, script.commits
        self._sandbox.script.begin("")
        if name == DELETE and state != "DELETED":
            await self._request_until_accepted(DELETE)
            await self._wait_for_end()
            again = (await self._state())[0]
        paths = self._paths()
        events = [
            event for event in self._sandbox.contents.events()[seen:] if not again or event.time <= self._ended_at
        ]
        if is_scaling(name):
            state, reason = _state_of_group(events)
        rows = await self._rows()
        data_after = self._data(rows)
        lost = dict(self._lost(data_before, data_after)) if name in self._definitions else {}
        failures, rollback_failures = self._failures(events, paths, began)
        self.phases.append(
            Phase(
                name,
                state,
                reason,
                round((events[-1].time if events else began) - began, 1),
                failures,
                rollback_failures,
                lost,
                [
                    Request(
                        number,
                        sent.method,
                        sent.path,
                        paths.get(resource, "") if resource else "",
                        *answers.get(number, (0, "")),
                    )
                    for number, (sent, resource) in enumerate(requests)
                ],
                list(_steps(events, paths, began)),
                commits,
                sorted(paths[resource] for resource in self._guests.waited),
                again,
            )
        )

    # -- requests ------------------------------------------------------------------------------------------------

    async def _request_until_accepted(self, phase: str) -> None:
        """Ask for an operation; if the engine dies before it answers, ask again unless it has begun."""
        while True:
            former = (await self._state())[0]
            try:
                await self._request(phase)
                return
            except EngineDied:
                now = (await self._state())[0]  # the next engine is there
                if self._sandbox.busy or now != former:
                    return

    async def _request(self, phase: str) -> None:
        body: dict[str, object] = {}
        if phase in self._definitions:
            body = {**self._definitions[phase].body, "disable_rollback": False}
            if self._scenario.timeout is not None:
                body["timeout_mins"] = self._scenario.timeout
        if is_scaling(phase):
            await self._signal(self._scenario.scalings[phase])
        elif phase == CREATE:
            await self._sandbox.request("stack_create", name=NAME, **body)
        elif phase == UPDATE:
            await self._sandbox.request("stack_update", ref=_REF, **body, **_EXISTING)
        else:
            await self._sandbox.request("stack_delete", ref=_REF)

    async def _signal(self, path: str) -> None:
        rows = dict(by_path(await self._root(), await self._rows()))
        if path not in rows:
            raise StokerError(f"The stack has no resource {path!r} to signal.")
        owner = {"name": None, "id": rows[path]["stack_id"]}
        await self._sandbox.request("resource_signal", ref=owner, name=rows[path]["name"], details=None)

    async def _wait_for_end(self) -> None:
        """Return when the operation has ended, and the engine has nothing to do any more."""
        began, polls = self._sandbox.clock.now(), 0
        while self._sandbox.busy:
            await asyncio.sleep(_POLL)
            polls += 1
            if polls % _GUESTS == 0 and self._sandbox.contents.is_waiting(WAITING):
                await self._guests.act(await self._rows())
            if self._sandbox.clock.now() - began > _LONGEST:
                raise StokerError("An operation has not ended after a day.")
        self._ended_at = self._sandbox.clock.now()
        await asyncio.sleep(_SETTLED)

    async def _state(self) -> tuple[str, str]:
        try:
            shown = await self._sandbox.read("stack_show", ref=_REF)
        except NotFound:
            return "DELETED", ""
        return f"{shown['action']}_{shown['status']}", shown["status_reason"]

    async def _rows(self) -> list[Mapping[str, Any]]:
        """Return all resources, those of nested stacks and of stacks in other regions included."""
        others = ({"name": None, "id": stack_id} for stack_id in self._sandbox.contents.stacks_of_resources())
        rows: list[Mapping[str, Any]] = []
        for ref in (_REF, *others):
            try:
                listed = await self._sandbox.read("resource_list", ref=ref, nested_depth=_DEPTH)
            except NotFound:
                continue
            rows += listed["resources"]
        unsupported = sorted({row["type"] for row in rows} & UNSUPPORTED)
        if unsupported:
            raise StokerError(f"Resources of the type {unsupported[0]} cannot be rehearsed: nothing signals them.")
        return rows

    async def _note_retained(self) -> None:
        """Remember the objects that the deletion is to keep."""
        plan = (await self._sandbox.read("stack_action_preview", ref=_REF, action="delete"))["plan"]
        retained = {step["path"] for step in plan["steps"] if is_retained(step)}
        rows = dict(by_path(await self._root(), await self._rows()))
        self._retained |= {str(row["physical_id"]) for path, row in rows.items() if path in retained}
        self._has_copies = bool(retained)

    async def _root(self) -> str:
        identity = await self._sandbox.read("stack_identify", ref=_REF)
        return str(identity["id"])

    # -- objects and resources -----------------------------------------------------------------------------------

    def _paths(self) -> dict[tuple[str, str], str]:
        """Return the path of each resource that there has been, by its stack and name."""
        return _Paths(self._sandbox.contents.prefixes())

    def _data(self, rows: Iterable[Mapping[str, Any]]) -> Objects:
        """Return the objects in which users keep data."""
        data = {}
        listed = list(rows)
        paths = self._paths()
        for row in listed:
            path = paths[row["stack_id"], row["name"]]
            self.types[path] = row["type"]
            kind = self._sandbox.engine.services.types.registry.types.get(row["type"])
            if not isinstance(kind, ResourceType) or isinstance(kind, ParentInAnotherService):
                continue  # the resources of stacks in other regions are known
            if kind.content and row["physical_id"]:
                data[path] = (row["type"], str(row["physical_id"]))
        return data

    def _lost(self, data_before: Objects, data_after: Objects) -> Iterator[tuple[str, str]]:
        """Yield the resources, with their types, whose former objects are gone; note those that were retained."""
        existing = set[str]().union(*self._sandbox.contents.objects().values())
        for path, (kind, identifier) in data_before.items():
            if data_after.get(path) == (kind, identifier):
                continue
            if identifier in existing:
                self._retained.add(identifier)
            else:
                yield path, kind

    def _failures(
        self, events: Sequence[Row[Any]], paths: Mapping[tuple[str, str], str], began: float
    ) -> tuple[list[Failure], list[Failure]]:
        """Return the failures of resources in the phase's own action, and in the rollback after it."""
        stacks = {row.id for row in self._sandbox.contents.stacks()}
        failures: tuple[list[Failure], list[Failure]] = ([], [])
        groups: tuple[list[Failure], list[Failure]] = ([], [])
        returning, since = 0, began
        for event in events:
            if event.resource_type == STACK_TYPE and event.physical_id == event.stack_id:
                if event.action == "ROLLBACK" and event.resource_name == NAME and not returning:
                    returning, since = 1, event.time
                continue
            if event.status != "FAILED":
                continue
            late = event.time - since >= self._limit
            failure = Failure(paths[event.stack_id, event.resource_name], event.action, event.reason, late)
            (groups if event.physical_id in stacks else failures)[returning].append(failure)
        return failures[0] or groups[0], failures[1] or groups[1]

    def _left(self, before: Mapping[tuple[str, str], set[str]]) -> Iterator[LeftObject]:
        """Yield the objects that nobody owns any more."""
        for stack_id in self._sandbox.contents.stacks_of_resources():
            yield LeftObject(
                "heat", "stacks", stack_id, self._paths()[self._sandbox.cloud.orchestration.parents[stack_id]]
            )
        retained = self._retained | (self._sandbox.contents.belonging_to(self._retained) if self._retained else set())
        without = set().union(*(OUTLIVING.get(kind, ()) for kind in self.types.values()))
        for kind, identifiers in self._sandbox.contents.objects(without).items():
            if self._has_copies and kind in _COPIES:
                continue
            for identifier in sorted(identifiers - before.get(kind, set()) - retained):
                yield LeftObject(*kind, identifier, self._resource_of(identifier))

    def _resource_of(self, identifier: str) -> str:
        """Return the resource for which an answer was received that names an object; empty if there is none."""
        paths, text = self._paths(), identifier.encode()
        for call in self._sandbox.calls:
            if call.resource is not None and text in orjson.dumps(call.answer, default=str):
                return paths[call.resource]
        return ""


def _state_of_group(events: Sequence[Row[Any]]) -> tuple[str, str]:
    """Return the state of the group that has been scaled, and the reason for it."""
    stacks = [event for event in events if event.resource_type == STACK_TYPE and event.physical_id == event.stack_id]
    own = [event for event in stacks if event.stack_id == stacks[0].stack_id]
    return (f"{own[-1].action}_{own[-1].status}", own[-1].reason) if own else (UNCHANGED, "")


class _Paths(dict[tuple[str, str], str]):
    """The path of a resource by its stack and its name."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__()
        self._prefixes = prefixes

    def __missing__(self, key: tuple[str, str]) -> str:
        return f"{self._prefixes.get(key[0], '')}{key[1]}"

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key]


def _steps(events: Sequence[Row[Any]], paths: Mapping[tuple[str, str], str], began: float) -> Iterator[Step]:
    """Yield the actions on resources with their times."""
    running: dict[tuple[str, str], float] = {}
    for event in events:
        if event.resource_type == STACK_TYPE and event.physical_id == event.stack_id:
            continue
        path = paths[event.stack_id, event.resource_name]
        if event.status == "IN_PROGRESS":
            running.setdefault((path, event.action), event.time)
        elif (path, event.action) in running:
            start = running.pop((path, event.action))
            yield Step(path, event.action, round(start - began, 1), round(event.time - began, 1))
