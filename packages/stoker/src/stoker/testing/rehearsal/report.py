"""The report of a rehearsal, as JSON data and for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from stoker.testing.rehearsal.capacity import Capacity, capacities
from stoker.testing.rehearsal.critical_path import critical_path
from stoker.testing.rehearsal.disruptions import WORDS, Disruption, DisruptionKind
from stoker.testing.rehearsal.rehearsal import Rehearsal
from stoker.testing.rehearsal.runs import Run
from stoker.testing.rehearsal.scenario import CREATE, UPDATE, Outcome, Phase
from stoker.testing.rehearsal.single_points import SinglePoint, single_points

_WIDTH = 100
"""The longest message in the report for people, in characters; the JSON data have all of it."""
_MOST_POINTS = 8


def to_data(rehearsal: Rehearsal) -> dict[str, Any]:
    """Return plain JSON data."""
    created = rehearsal.undisturbed.phase(CREATE)
    steps = created.steps if created is not None else ()
    return {
        "findings": [finding.to_dict() for finding in rehearsal.findings],
        "undisturbed": [_phase_data(phase) for phase in rehearsal.undisturbed.phases],
        "capacity": [asdict(capacity) for capacity in _capacities(rehearsal)],
        "critical_path": [
            {"resource": step.path, "began": step.began, "ended": step.ended}
            for step in critical_path(steps, rehearsal.structure)
        ],
        "single_points": [
            {
                "resource": point.path,
                "dependents": point.dependents,
                "of": point.of,
                "seed": point.run or None,
                "state": point.state or None,
            }
            for point in single_points(rehearsal)
        ],
        "runs": [_run_data(rehearsal, run, outcome) for run, outcome in rehearsal.outcomes],
        "summary": {
            "runs": len(rehearsal.outcomes),
            "single": min(len(rehearsal.outcomes), len(rehearsal.runs.single)),
            "findings": len(rehearsal.findings),
            "not_performed": sum(bool(outcome.error) for _, outcome in rehearsal.outcomes),
            "interrupted": rehearsal.missing,
        },
    }


def _phase_data(phase: Phase) -> dict[str, object]:
    return {
        "phase": phase.name,
        "state": phase.state,
        "message": message(phase),
        "seconds": phase.seconds,
        "requests": len(phase.requests),
        "data_lost": sorted(phase.lost),
    }


def _run_data(rehearsal: Rehearsal, run: Run, outcome: Outcome) -> dict[str, object]:
    return {
        "seed": run.number,
        "disruptions": [
            {"phase": disruption.phase, "kind": disruption.kind, "what": describe(rehearsal, disruption)}
            for disruption in run.disruptions
        ],
        "took_place": len(outcome.met),
        "phases": [_phase_data(phase) for phase in outcome.phases],
        "engines": outcome.engines,
        "left": [f"{left_object.service} {left_object.collection} {left_object.id}" for left_object in outcome.left],
        "error": outcome.error,
    }


def message(phase: Phase) -> str:
    """Return what users see: the reason of the resource that has failed first, or that of the stack."""
    if phase.failures and not phase.succeeded:
        return phase.failures[0].reason
    return phase.reason


def describe(rehearsal: Rehearsal, disruption: Disruption) -> str:
    """Return in words what goes wrong."""
    request = rehearsal.runs.request(disruption)
    if request is None:
        return f"{disruption.phase}: the engine dies after commit {disruption.call + 1}"
    route = "/".join(request.path.split("/")[1:2])
    return f"{disruption.phase}: {request.method} to {route} for {request.resource} {WORDS[disruption.kind]}"


# -- text --------------------------------------------------------------------------------------------------------------


def text(rehearsal: Rehearsal) -> Iterator[str]:
    """Yield the lines of the report, but for the findings."""
    yield "Without disruptions:"
    for phase in rehearsal.undisturbed.phases:
        name = f"{phase.name:{_width(rehearsal)}}"
        yield f"  {name} {phase.state:17} {_seconds(phase.seconds):>8}  {len(phase.requests)} requests"
        if phase.lost:
            yield f"          loses data of: {', '.join(sorted(phase.lost))}"
    for capacity in _capacities(rehearsal):
        below = f"{_seconds(capacity.seconds)} below capacity" if capacity.seconds else "never below capacity"
        yield f"  {capacity.path} during the update: at least {capacity.least} of {capacity.size} in service, {below}"
    yield from _critical(rehearsal)
    yield from _table(rehearsal)
    yield from _damage(rehearsal)
    yield from _worst(rehearsal)


def _capacities(rehearsal: Rehearsal) -> list[Capacity]:
    update = rehearsal.undisturbed.phase(UPDATE)
    return [] if update is None else list(capacities(rehearsal.undisturbed, update, rehearsal.structure))


def _width(rehearsal: Rehearsal) -> int:
    """Return the width of the column with the names of the phases."""
    return max(7, *map(len, rehearsal.scenario.phases))


def _critical(rehearsal: Rehearsal) -> Iterator[str]:
    created = rehearsal.undisturbed.phase(CREATE)
    steps = created.steps if created is not None else ()
    path = [step for step in critical_path(steps, rehearsal.structure) if step.ended - step.began > 0]
    if path:
        shown = " → ".join(f"{step.path} {_seconds(step.ended - step.began)}" for step in path)
        yield f"  critical path: {shown}"
    points = single_points(rehearsal)
    if points:
        shown = ", ".join(_shown_point(point) for point in points[:_MOST_POINTS])
        more = f" and {len(points) - _MOST_POINTS} more" if len(points) > _MOST_POINTS else ""
        yield f"  single points of failure: {shown}{more}"


def _shown_point(point: SinglePoint) -> str:
    return f"{point.path} (run {point.run})" if point.run else point.path


def _table(rehearsal: Rehearsal) -> Iterator[str]:
    """Yield what runs with a single disruption come to, by its kind."""
    rows: dict[tuple[DisruptionKind, str], dict[str, list[tuple[Run, Phase]]]] = {}
    for run, outcome in rehearsal.outcomes:
        [first, *more] = run.disruptions
        phase = outcome.phase(first.phase)
        if not more and phase is not None and outcome.met:
            rows.setdefault((first.kind, first.phase), {}).setdefault(phase.state, []).append((run, phase))
    if not rows:
        return
    yield ""
    yield "With one disruption in each run:"
    for kind in DisruptionKind:
        for name in rehearsal.scenario.phases:
            for state, phases in sorted(rows.get((kind, name), {}).items()):
                longest = max(phase.seconds for _, phase in phases)
                again = sum(phase.again == "DELETED" for _, phase in phases)
                second = f"; {again} deleted by a second attempt" if again else ""
                times = f"at most {_seconds(longest)}"
                yield f"  {kind:21}{name:{_width(rehearsal)}} {len(phases):4} times {state:17} {times}{second}"
                run, phase = phases[0]
                if not phase.succeeded:
                    seen = textwrap.shorten(message(phase), _WIDTH, placeholder=" …")
                    yield f"      run {run.number}: {seen}"


def _damage(rehearsal: Rehearsal) -> Iterator[str]:
    """Yield what is lost, and what is left behind, in runs with disruptions."""
    lost: dict[str, list[int]] = {}
    left: dict[str, list[int]] = {}
    for run, outcome in rehearsal.outcomes:
        for path in {path for phase in outcome.phases for path in phase.lost}:
            lost.setdefault(path, []).append(run.number)
        for description in {
            f"{left_object.collection} of {left_object.service} {left_object.resource}".rstrip()
            for left_object in outcome.left
        }:
            left.setdefault(description, []).append(run.number)
    for heading, damage in (("data lost", lost), ("left behind", left)):
        for description, numbers in sorted(damage.items()):
            yield f"  {heading}: {description}, in {len(numbers)} runs, such as {numbers[0]}"


def _worst(rehearsal: Rehearsal) -> Iterator[str]:
    combined = [outcome for run, outcome in rehearsal.outcomes if len(run.disruptions) > 1]
    if combined:
        good = sum(all(phase.succeeded for phase in outcome.phases) for outcome in combined)
        yield f"  {len(combined)} runs with random combinations; {good} of them end as if nothing had gone wrong"
    errors = [(run.number, outcome.error) for run, outcome in rehearsal.outcomes if outcome.error]
    for number, error in errors[:3]:
        yield f"  run {number} could not be performed: {error}"


def one_run(rehearsal: Rehearsal, run: Run, outcome: Outcome) -> Iterator[str]:
    """Yield what happens in a run, for people."""
    yield f"Run {run.number}:"
    for disruption in run.disruptions:
        yield f"  {describe(rehearsal, disruption)}"
    for phase in outcome.phases:
        name = f"{phase.name:{_width(rehearsal)}}"
        yield f"  {name} {phase.state:17} {_seconds(phase.seconds):>8}  {message(phase)}"
        for failure in phase.rollback_failures:
            yield f"          rollback: {failure.path} {failure.reason}"
        if phase.lost:
            yield f"          data lost: {', '.join(sorted(phase.lost))}"
        if phase.again:
            yield f"          a second attempt ends with {phase.again}"
    for left in outcome.left:
        yield f"  left behind: {left.collection} of {left.service} {left.id} {left.resource}"
    if outcome.error:
        yield f"  {outcome.error}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 or seconds == int(seconds) else f"{seconds:.1f} s"
