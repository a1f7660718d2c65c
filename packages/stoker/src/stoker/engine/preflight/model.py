"""The data of the checks: the resources of a plan as a tree of stacks, what services say, and what was found.

Services are asked each question once, a few at a time, all of them within a limited time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import CloudError, StokerError
from stoker.base.redaction import Redactor
from stoker.cloud.session import Cloud
from stoker.engine.planning.decide import may_have_unknown_object, was_never_usable
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step, Subject
from stoker.engine.records.actions import NOT_CREATED
from stoker.engine.records.state import ResourceState
from stoker.plugins.preflight import CHECKS, Code, NotRead, Planned, Severity
from stoker.plugins.resource import ResourceType, finalized
from stoker.template.definition import Definition
from stoker.template.nested import inside
from stoker.template.properties import key_path
from stoker_foundation.clock import Clock

_MAKES = (StepKind.CREATE, StepKind.REPLACE)
_EXISTS_AFTER = (StepKind.CREATE, StepKind.REPLACE, StepKind.UPDATE)


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A step with what it makes (`planned`, None for a removal) and what was there before (`former`).

    `known` says that the stack has recorded an object of the resource, `uncertain` that an interrupted creation may
    have made one, which is then used or deleted first, and `goes_first` that a removal may come before an object of
    the same name is made.
    """

    step: Step
    planned: Planned | None
    former: Planned | None
    known: bool = False
    uncertain: bool = False
    goes_first: bool = False


@dataclass(slots=True, eq=False)
class StackNode:
    """One stack of a plan: its own steps, and the nested stacks below them.

    `removed` says that the whole stack is deleted. `in_batches` says that its members may be replaced a few at a time,
    as groups do.
    """

    removed: bool = False
    in_batches: bool = False
    items: list[Item] = field(default_factory=list)
    children: list[StackNode] = field(default_factory=list)
    neighbours: dict[str, Planned] = field(default_factory=dict)
    recorded: dict[str, list[ResourceState]] = field(default_factory=dict)

    def all_items(self) -> Iterator[Item]:
        """Yield the steps of the stack and of all stacks below it."""
        yield from self.items
        for child in self.children:
            yield from child.all_items()

    def release(self) -> None:
        """Let go of the resources after the checks: each knows all of its stack, itself among them, so that they would
        wait for the garbage collector.
        """
        self.neighbours.clear()
        for child in self.children:
            child.release()


def tree_of(plan: Plan, concerned: Callable[[ResourceType], bool]) -> StackNode:
    """Return the stacks of a plan with the steps of the types that are `concerned`."""
    root, leaving = StackNode(), set[str]()
    levels = [root]
    for step in plan.steps:
        del levels[step.depth + 1 :]
        node = levels[-1]
        subject = step.subject
        if subject is None or step.kind in (StepKind.KEEP, StepKind.FORGET):
            levels.append(StackNode())
            continue
        item = _item(step, subject, node, leaving)
        if (state := subject.state) is not None and state.row.action != NOT_CREATED:
            node.recorded.setdefault(state.row.name, []).append(state)
            if step.kind is not StepKind.UPDATE and state.row.physical_id is not None:
                leaving.add(state.row.physical_id)
        if item.planned is not None:
            node.neighbours[item.planned.name] = item.planned
        if concerned(subject.type):
            node.items.append(item)
        child = StackNode(step.kind is StepKind.DELETE, bool(subject.type.update_policy))
        node.children.append(child)
        levels.append(child)
    _prune(root)
    return root


def _prune(node: StackNode) -> None:
    for child in node.children:
        _prune(child)
        if not (child.items or child.children):
            child.release()
    node.children = [child for child in node.children if child.items or child.children]
    node.items = [_with_recorded(item, node) for item in node.items]


def _with_recorded(item: Item, node: StackNode) -> Item:
    """Return a step with what the stack has recorded under the name of its resource."""
    if item.planned is None:
        return replace(item, goes_first=_may_go_first(item, node))
    states = node.recorded.get(item.planned.name, ())
    uncertain = item.planned.makes and any(may_have_unknown_object(state) for state in states)
    return replace(item, known=bool(states), uncertain=uncertain)


def _may_go_first(item: Item, node: StackNode) -> bool:
    """Return whether a removal is tried before another object is made for the same resource."""
    state = item.step.subject.state if item.step.subject is not None else None
    successor = node.neighbours.get(item.former.name) if item.former is not None else None
    if state is None or successor is None or not successor.makes:
        return False
    return was_never_usable(state) or state.row.action == "DELETE"


def _item(step: Step, subject: Subject, node: StackNode, leaving: set[str]) -> Item:
    name = step.name.rpartition(".")[2] if step.depth else step.name
    state = subject.state
    former = None
    if state is not None:
        former = Planned(
            step.name, name, state.type, finalized(state.type, state.properties), False, state.row.physical_id
        )
    if subject.properties is None or step.kind not in _EXISTS_AFTER:
        return Item(step, None, former)
    makes = step.kind in _MAKES or _is_unmade(state)
    present = None if step.kind is StepKind.CREATE or _is_unmade(state) else former
    planned = Planned(
        step.name,
        name,
        subject.type,
        finalized(subject.type, subject.properties),
        makes,
        None if makes else state.row.physical_id if state is not None else None,
        present,
        node.neighbours,
        leaving,
    )
    return Item(step, planned, present)


def _is_unmade(state: ResourceState | None) -> bool:
    """Return whether the object of a recorded resource has not been made, as far as the record knows."""
    return state is not None and state.row.physical_id is None and state.row.action in ("INIT", "CREATE")


def placed(subject: Subject | None, name: str, diagnostic: Diagnostic, path: tuple[str | int, ...]) -> Diagnostic:
    """Return a diagnostic at a place in the properties of a resource: in its template, or in that around it if the
    user has not written its template.
    """
    if subject is None or subject.definition is None or name not in subject.definition.resources:
        return diagnostic
    found = _in_template(subject.definition, name, diagnostic, path)
    for parent, holder in reversed(subject.within):
        if parent is not None and holder in parent.resources:
            found = inside(parent.files, parent, parent.resources[holder], found)
    return found


def _in_template(definition: Definition, name: str, diagnostic: Diagnostic, path: tuple[str | int, ...]) -> Diagnostic:
    properties = key_path(definition, definition.resources[name], "properties")
    place = (*properties, *path) if path else properties[:-1]
    document = definition.template.document
    return replace(diagnostic, path=place, source=document.source, position=document.locate(place))


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: about a resource and a place in its properties if there is one, with what to do."""

    code: Code
    message: str
    planned: Planned | None = None
    path: tuple[str | int, ...] = ()
    hint: str = ""


SEVERITIES: Mapping[Severity, str] = {Severity.FAIL: "error", Severity.WARN: "warning"}


@dataclass(frozen=True, slots=True)
class Result:
    """A finding with its place in the template, and the path of the resource; "" for none."""

    code: Code
    path: str
    diagnostic: Diagnostic

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "code": self.code.value,
            "verdict": CHECKS[self.code].severity.value,
            "path": self.path,
            "diagnostic": self.diagnostic.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all checks, failures first. `requests` is the number of questions to services."""

    results: tuple[Result, ...] = ()
    requests: int = 0

    @property
    def failures(self) -> tuple[Result, ...]:
        """Return the results that refuse the change."""
        return tuple(result for result in self.results if CHECKS[result.code].severity is Severity.FAIL)

    def text(self) -> str:
        """Return the failures, one per line, with their places."""
        return "\n".join(result.diagnostic.text() for result in self.failures)

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"results": [result.to_data() for result in self.results], "requests": self.requests}


def diagnostic_of(finding: Finding, secrets: Collection[str]) -> Diagnostic:
    """Return the diagnostic of a finding, without a place and without secrets."""
    redactor = Redactor(secrets)
    return Diagnostic(
        finding.code.value,
        str(redactor.redact(finding.message)),
        hint=str(redactor.redact(finding.hint)),
        severity=SEVERITIES[CHECKS[finding.code].severity],
    )


_AT_ONCE = 4
"""Requests that are under way at the same time for one plan."""


class Reader:
    """Implements plugins.preflight.Facts. `seconds` is the time for all questions together, from the first one on.

    `calls` is the number of questions that were sent.
    """

    def __init__(self, cloud: Cloud, clock: Clock, seconds: float) -> None:
        self._cloud = cloud
        self._clock = clock
        self._seconds = seconds
        self._tasks: dict[Any, asyncio.Task[Any]] = {}
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._expired = False
        self.project_id = cloud.project_id
        self.role_names = cloud.role_names

    @property
    def calls(self) -> int:
        """Return the number of questions."""
        return len(self._tasks)

    async def get(self, service: str, path: str) -> Any:
        """Implements Facts."""
        return await self._once((service, path), service, path, lambda: self._cloud.get(service, path))

    async def list(
        self, service: str, path: str, key: str, params: Mapping[str, Any] | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Implements Facts."""
        question = (service, path, key, repr(params))
        found: Sequence[Mapping[str, Any]] = await self._once(
            question, service, path, lambda: self._cloud.list(service, path, key, params)
        )
        return found

    async def headers(self, service: str, path: str) -> Mapping[str, str]:
        """Implements Facts."""

        async def ask() -> Mapping[str, str]:
            answer = await self._cloud.request("HEAD", service, path)
            return {name.lower(): value for name, value in answer.headers.items()}

        found: Mapping[str, str] = await self._once(("HEAD", service, path), service, path, ask)
        return found

    async def _once(self, question: object, service: str, path: str, ask: Callable[[], Awaitable[object]]) -> Any:
        late = f"{service} did not answer GET {path} within {self._seconds:g} seconds"
        if question not in self._tasks:
            if self._expired:
                raise NotRead(late)
            self._tasks[question] = asyncio.create_task(self._in_turn(ask))
        try:
            task = self._tasks[question]
            return task.result() if task.done() else await asyncio.shield(task)
        except asyncio.CancelledError:
            if not self._tasks[question].cancelled():
                raise
            raise NotRead(late) from None
        except StokerError as error:
            refused = NotRead(f"{service} did not answer GET {path}: {error.message.removesuffix('.')}")
            refused.status = error.status if isinstance(error, CloudError) else None
            raise refused from error

    async def _in_turn(self, ask: Callable[[], Awaitable[object]]) -> object:
        async with self._room:
            return await ask()

    async def within_time(self, work: Awaitable[object]) -> Any:
        """Return the result of work that asks; questions that are not answered in time raise NotRead in it."""
        timer = self._clock.call_later(self._seconds, self._expire)
        try:
            return await work
        finally:
            timer.cancel()
            self._expire()

    def _expire(self) -> None:
        self._expired = True
        for task in self._tasks.values():
            task.cancel()
