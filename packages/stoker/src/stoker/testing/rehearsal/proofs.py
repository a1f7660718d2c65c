"""Find out why an undisturbed run fails, by runs in which something is different: a dependency more, no quotas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stoker.base.diagnostics import Diagnostic
from stoker.cli.terminal.places import url_of
from stoker.testing.rehearsal import rules
from stoker.testing.rehearsal.findings import failure_finding, first_failure, missing_dependency
from stoker.testing.rehearsal.scenario import CREATE, DELETE, UPDATE, Failure, Outcome, Phase, Scenario, is_scaling
from stoker.testing.rehearsal.structure import Level, Structure

Try = Callable[[Sequence[Scenario]], list[Outcome]]
"""Performs scenarios without disruptions."""


def cause(
    scenario: Scenario, before: Structure, structure: Structure, phase: Phase, rule: str, perform: Try
) -> Diagnostic:
    """Return why an undisturbed phase fails: a quota, if it succeeds without; what is removed too late, if the new
    template is good by itself; a missing dependency, if it succeeds with one; otherwise `rule`. `structure` is that of
    the phase.
    """
    failure = first_failure(phase)
    if "quotas" in scenario.cloud and phase.name != DELETE:
        cloud = {kind: objects for kind, objects in scenario.cloud.items() if kind != "quotas"}
        if _succeeds(perform([replace(scenario, cloud=cloud)])[0], phase.name):
            return failure_finding(phase, structure, rules.QUOTA_EXCEEDED)
    if failure is not None and phase.name == UPDATE and scenario.target is not None:
        removed = _removed(before, structure, failure)
        if removed and _succeeds(perform([scenario.target])[0], CREATE):
            return _too_late(structure, failure, removed)
    if failure is not None and not failure.timed_out:
        for depth, (level, node) in reversed(list(enumerate(structure.chain(failure.path)))):
            if not level.own or not node.source:
                continue
            path = ".".join(failure.path.split(".")[: depth + 1])
            other = _missing(scenario, level, node.name, url(node.source), phase.name, perform)
            if other is not None and _creates(phase.name):
                return missing_dependency(structure, path, node.name, other, failure.reason)
            if other is not None:
                other_path = ".".join([*path.split(".")[:-1], other])
                return missing_dependency(structure, other_path, other, node.name, failure.reason)
    return failure_finding(phase, structure, rule)


def _removed(before: Structure, after: Structure, failure: Failure) -> list[str]:
    """Return the resources of the type of a new one that the update removes, in the template itself."""
    node = after.root.nodes.get(failure.path)
    if node is None or failure.path in before.root.nodes:
        return []
    return [
        name for name, other in before.root.nodes.items() if name not in after.root.nodes and other.type == node.type
    ]


def _too_late(structure: Structure, failure: Failure, removed: Sequence[str]) -> Diagnostic:
    """Return that a new resource needs what another one has until the update removes it."""
    message = f"{failure.path} is created before {', '.join(removed)} is removed: {failure.reason}"
    hint = f"if it is the same one, add `moved: [{{from: {removed[0]}, to: {failure.path}}}]` to an environment; "
    hint += "otherwise remove the former one by an update of its own"
    return structure.diagnostic(failure.path, rules.REMOVED_TOO_LATE, message, hint)


def url(source: str) -> str:
    """Return the URL of a document by its name on this machine."""
    return url_of(source, f"{Path.cwd().as_uri()}/")


def _missing(scenario: Scenario, level: Level, name: str, document: str, phase: str, perform: Try) -> str | None:
    """Return the resource of a level with which a resource needs a dependency, to make the phase succeed."""
    others = list(_candidates(level, name))

    def with_all(names: Sequence[str]) -> Scenario:
        changed = scenario
        if _creates(phase):
            return changed.with_dependency(document, name, *names)
        for other in names:
            changed = changed.with_dependency(document, other, name)
        return changed

    if not others or not _succeeds(perform([with_all(others)])[0], phase):
        return None
    outcomes = perform([with_all([other]) for other in others])
    sufficient = [other for other, outcome in zip(others, outcomes, strict=True) if _succeeds(outcome, phase)]
    return min(sufficient, key=lambda other: len(_before(level, other)), default=None)


def _creates(phase: str) -> bool:
    return phase == CREATE or is_scaling(phase)


def _candidates(level: Level, name: str) -> Iterator[str]:
    """Yield the resources whose order with a resource is not known."""
    known = {name} | level.after(name) | _before(level, name)
    yield from (other for other in level.nodes if other not in known)


def _before(level: Level, name: str) -> set[str]:
    """Return the resources on which one depends, directly or not."""
    required = set(level.nodes[name].requires)
    while more := {further for other in required for further in level.nodes[other].requires} - required:
        required |= more
    return required


def _succeeds(outcome: Outcome, phase: str) -> bool:
    ended = outcome.phase(phase)
    return ended is not None and ended.succeeded
