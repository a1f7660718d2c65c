"""The rules by which tasks of a workflow follow each other. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from openstack_emulator.workflow.records import Task, WorkflowSpec
from openstack_emulator.workflow.rules.language import inbound

ENDED = frozenset({"SUCCESS", "ERROR", "CANCELLED", "SKIPPED"})
"""States of executions, tasks and actions that have ended."""
_AFTER = {"SUCCESS": "on-success", "ERROR": "on-error"}


def clauses_after(state: str) -> list[str]:
    """Return the clauses that apply to a task that has ended in a state."""
    return [_AFTER[state], "on-complete"] if state in _AFTER else []


class Transition(NamedTuple):
    """A transition that a task takes: to another task, or to a command of the engine, which may have a message."""

    to: str
    message: Any


def transitions(spec: WorkflowSpec, task: Task, holds: Callable[[object], bool]) -> list[Transition]:
    """Return the transitions that a task of a direct workflow takes, in order. `holds` evaluates a condition."""
    declared = spec.tasks[task.name]
    return [
        Transition(target["to"], target["msg"])
        for clause in clauses_after(task.state)
        for target in declared.get(clause, [])
        if target["if"] is None or holds(target["if"])
    ]


def merged(*parts: Mapping[str, object]) -> dict[str, object]:
    """Return one map of all: later values replace earlier ones, maps are merged."""
    result: dict[str, object] = {}
    for part in parts:
        for key, value in part.items():
            known = result.get(key)
            both = isinstance(known, Mapping) and isinstance(value, Mapping)
            result[key] = merged(known, value) if both else value  # type: ignore[arg-type]
    return result


def outbound(task: Task) -> dict[str, object]:
    """Return the data after a task: what it has been given, and what it has published."""
    return merged(task.data, task.published)


def required_tasks(spec: WorkflowSpec, target: str) -> set[str]:
    """Return the tasks that a reverse workflow runs to reach a task, the task itself included."""
    found, open_ones = set(), [target]
    while open_ones:
        name = open_ones.pop()
        if name not in found:
            found.add(name)
            open_ones += spec.tasks[name].get("requires", [])
    return found


def has_requirement_cycle(spec: WorkflowSpec, target: str) -> bool:
    """Return whether the requirements of a task lead back to one of them."""
    left = {name: set(spec.tasks[name].get("requires", [])) for name in required_tasks(spec, target)}
    while ready := {name for name, needs in left.items() if not needs}:
        left = {name: needs - ready for name, needs in left.items() if name not in ready}
    return bool(left)


# -- joins ----------------------------------------------------------------------------------------------------------


def join_state(spec: WorkflowSpec, name: str, tasks: Sequence[Task]) -> tuple[str, list[Task]]:
    """Return the state of a join, WAITING, RUNNING or ERROR, and the tasks that have led to it.

    tasks: those of the execution, the oldest first.
    """
    latest = {task.name: task for task in tasks}
    arrived = [task for task in latest.values() if name in task.next]
    sources = inbound(spec, name)
    possible = [
        source
        for source in sources
        if source not in {task.name for task in arrived} and _may_arrive(spec, source, name, latest)
    ]
    join = spec.tasks[name]["join"]
    needed = len(sources) if join == "all" else 1 if join == "one" else int(join)
    if len(arrived) >= needed:
        return "RUNNING", arrived
    return ("WAITING" if len(arrived) + len(possible) >= needed else "ERROR"), arrived


def _may_arrive(spec: WorkflowSpec, source: str, target: str, latest: Mapping[str, Task]) -> bool:
    """Return whether a task can still lead to the target."""
    task = latest.get(source)
    if task is not None:
        return not task.processed and (task.state not in ENDED or leads_to(spec, task, target))
    return _may_begin(spec, source, latest, set())


def leads_to(spec: WorkflowSpec, task: Task, target: str) -> bool:
    """Return whether one of the clauses that apply to a task's state names the target."""
    declared = spec.tasks[task.name]
    return any(
        transition["to"] == target for clause in clauses_after(task.state) for transition in declared.get(clause, [])
    )


def _may_begin(spec: WorkflowSpec, name: str, latest: Mapping[str, Task], seen: set[str]) -> bool:
    """Return whether a task that does not exist yet can still be created."""
    seen.add(name)
    for source in inbound(spec, name):
        task = latest.get(source)
        if task is not None and not task.processed:
            return True
        if task is None and source not in seen and _may_begin(spec, source, latest, seen):
            return True
    return False
