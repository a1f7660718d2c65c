"""A rehearsal from the beginning to the end: the undisturbed run, those with disruptions, and what they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import Invalid, StokerError
from stoker.testing.existing_objects import create_existing_objects
from stoker.testing.rehearsal import rules
from stoker.testing.rehearsal.disruptions import Disruption
from stoker.testing.rehearsal.findings import DisruptionFindings, template_findings, undisturbed_findings
from stoker.testing.rehearsal.proofs import cause
from stoker.testing.rehearsal.runs import Run, Runs
from stoker.testing.rehearsal.scenario import CREATE, DELETE, UPDATE, Outcome, Scenario
from stoker.testing.rehearsal.structure import Structure, scaling_policies
from stoker.testing.sandbox import Sandbox
from stoker.testing.workers import Workers

WORKER = "stoker.testing.rehearsal.worker"
"""The module of the processes that perform runs."""
_USUAL_SEEDS = 500
_SHARE = 4
"""One combination for so many single disruptions."""
_FAILS = {CREATE: rules.CREATION_FAILS, UPDATE: rules.UPDATE_FAILS, DELETE: rules.DELETION_REFUSED}
_EXPLAINED = (rules.BATCHES_OUTLAST, rules.UNREACHABLE_WAIT)
"""Rules whose violation makes an action fail at the same place."""

Progress = Callable[[int, int], None]
"""Called with the number of the runs that have ended, and of all runs."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What has come of a rehearsal: the undisturbed run, the others, and the findings, sorted by their places.

    `hidden` are pairs of paths: the second resource needs the first without depending on it. `missing` is the number of
    runs that were not made because the rehearsal was interrupted.
    """

    scenario: Scenario
    structure: Structure
    undisturbed: Outcome
    runs: Runs
    outcomes: Sequence[tuple[Run, Outcome]] = ()
    findings: Sequence[Diagnostic] = field(default_factory=tuple)
    hidden: Collection[tuple[str, str]] = ()
    missing: int = 0


class Interrupted(Exception):
    """A rehearsal was interrupted after its undisturbed run; `rehearsal` has the runs that had ended."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        super().__init__("The rehearsal was interrupted.")
        self.rehearsal = rehearsal


def check(scenario: Scenario) -> None:
    """Raise TemplateInvalid with all problems of the templates, or what else makes them unusable."""
    for version in filter(None, (scenario, scenario.target)):
        with Sandbox() as sandbox:
            create_existing_objects(sandbox.cloud, version.cloud)
            sandbox.check(
                "rehearsal",
                version.template,
                environments=version.environments,
                parameters=dict(version.parameters),
            )


def rehearse(
    scenario: Scenario,
    seeds: int | None,
    only: int | None,
    workers: Workers,
    progress: Progress = lambda done, of: None,
) -> Rehearsal:
    """Perform a scenario with the first `seeds` runs, or only with the run of one number.

    Without a number, these are all single disruptions and some combinations. `workers` are processes that run `WORKER`.

    Raises StokerError for a scenario that cannot be performed, Interrupted at a KeyboardInterrupt.
    """
    before = Structure.of(scenario.template, scenario.environments, scenario.parameters)
    after = before
    if (target := scenario.target) is not None:
        after = Structure.of(target.template, target.environments, target.parameters)
    scenario = _scaled(scenario, after)

    def perform(scenarios: Sequence[Scenario]) -> list[Outcome]:
        return [Outcome.from_dict(answer) for answer in workers.answers([request(variant) for variant in scenarios])]

    [undisturbed] = perform([scenario])
    if undisturbed.error:
        raise StokerError(undisturbed.error)
    runs = Runs(undisturbed, lambda path: before.find(path) and _place(before, path))
    findings = [*template_findings(before, scenario.timeout), *undisturbed_findings(undisturbed, before, after)]
    for phase in undisturbed.phases:
        if not phase.succeeded:
            structure = before if phase.name in (CREATE, DELETE) else after
            explained = {(finding.source, finding.path) for finding in findings if finding.rule in _EXPLAINED}
            rule = _FAILS.get(phase.name, rules.SCALING_FAILS)
            finding = cause(scenario, before, structure, phase, rule, perform)
            if (finding.source, finding.path) not in explained:
                findings.append(finding)
            break  # what comes after a failure is a consequence of it
    disruptions = list(_selected_runs(runs, undisturbed, seeds, only))
    disturbed = DisruptionFindings(runs, undisturbed, before, after)
    outcomes: list[tuple[Run, Outcome]] = []

    def result() -> Rehearsal:
        all_findings = _unique([*findings, *disturbed.races()])
        hidden, missing = disturbed.hidden_dependencies, len(disruptions) - len(outcomes)
        return Rehearsal(scenario, before, undisturbed, runs, outcomes, all_findings, hidden, missing)

    progress(0, len(disruptions))
    try:
        answers = workers.answers([request(scenario, run.disruptions) for run in disruptions])
        for run, answer in zip(disruptions, answers, strict=True):
            outcome = Outcome.from_dict(answer)
            findings += disturbed.findings(run, outcome)
            outcomes.append((run, outcome))
            progress(len(outcomes), len(disruptions))
    except KeyboardInterrupt:
        raise Interrupted(result()) from None
    return result()


def _scaled(scenario: Scenario, structure: Structure) -> Scenario:
    """Return a scenario with the policies that are signalled: all, unless it names some. Raises Invalid."""
    known = scaling_policies(structure)
    for path in scenario.scaled or ():
        if path not in known:
            raise Invalid(f"The template has no scaling policy {path!r}, but {', '.join(known) or 'none at all'}.")
    return replace(scenario, scaled=known) if scenario.scaled is None else scenario


def _selected_runs(runs: Runs, undisturbed: Outcome, seeds: int | None, only: int | None) -> Iterator[Run]:
    """Yield the runs that are made: none for a stack that cannot even be created undisturbed."""
    created = undisturbed.phase(CREATE)
    if created is None or not created.succeeded:
        return
    if only is None:
        enough = min(len(runs.single) + len(runs.single) // _SHARE, _USUAL_SEEDS)
        yield from runs.first(enough if seeds is None else seeds)
    elif runs.single:
        yield runs[only]


def request(scenario: Scenario, disruptions: Sequence[Disruption] = ()) -> dict[str, object]:
    """Return what a worker is asked for."""
    return {
        "what": "a run",
        "scenario": scenario.to_dict(),
        "disruptions": [asdict(disruption) for disruption in disruptions],
    }


def _place(structure: Structure, path: str) -> tuple[object, ...]:
    return tuple((node.source, node.key) for _, node in structure.chain(path))


def _unique(findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return findings in the order of their places, each rule once for a place: the first one is kept."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for finding in findings:
        unique.setdefault((finding.rule, finding.source, finding.path, finding.hint), finding)
    return sorted(unique.values(), key=Diagnostic.sort_key)


def states(rehearsal: Rehearsal) -> Counter[tuple[str, str, str]]:
    """Return how many runs with a single disruption have ended in each state, by kind of disruption and phase."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for run, outcome in rehearsal.outcomes:
        if len(run.disruptions) == 1:
            [disruption] = run.disruptions
            phase = outcome.phase(disruption.phase)
            if phase is not None and outcome.met:
                counts[disruption.kind, disruption.phase, phase.state] += 1
    return counts
