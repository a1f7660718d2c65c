"""What runs say about a template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stoker.base.diagnostics import Diagnostic
from stoker.engine.records.beginnings import time_limit
from stoker.engine.settings import EngineSettings
from stoker.resources.heat.groups.batching import batches, every_change, lasting_changes
from stoker.resources.heat.groups.group import rolling_of
from stoker.resources.heat.signals.wait_condition import HANDLES
from stoker.schema.unknown import has_unknown
from stoker.testing.rehearsal import rules
from stoker.testing.rehearsal.disruptions import PASSING, DisruptionKind
from stoker.testing.rehearsal.guests import CONDITIONS
from stoker.testing.rehearsal.runs import Run, Runs
from stoker.testing.rehearsal.scenario import CREATE, DELETE, UPDATE, Failure, LeftObject, Outcome, Phase
from stoker.testing.rehearsal.structure import Level, Node, Structure

_WITHOUT_DATA = frozenset({"OS::Nova::Server", "AWS::EC2::Instance"})
"""Types whose content usually comes from an image: to replace them is what updates are for."""
_SERVER_GROUP = "OS::Nova::ServerGroup"
_BALANCERS = frozenset({"OS::Octavia::LoadBalancer", "OS::Octavia::PoolMember", "OS::Octavia::Pool"})


# -- findings without a run --------------------------------------------------------------------------------------------


def written(structure: Structure, timeout: int | None) -> Iterator[Diagnostic]:
    """Yield what can be known without a run."""
    for path, node, level in structure.walk():
        if node.type in CONDITIONS:
            yield from _unreachable(structure, path, node, level)
        if node.type == _SERVER_GROUP:
            yield from _on_one_host(structure, path, node, level)
        yield from _batches(structure, path, node, time_limit(EngineSettings(), timeout))


def _unreachable(structure: Structure, path: str, node: Node, level: Level) -> Iterator[Diagnostic]:
    """Yield what is wrong with a wait condition whose handle nothing knows that exists while it waits."""
    handles = {name for name in node.refers_to if name in level.nodes and level.nodes[name].type in HANDLES}
    if not handles or handles & level.shown:
        return
    holders = {
        other.name
        for other in level.nodes.values()
        if other.refers_to & handles and other.type not in CONDITIONS and other.name != node.name
    }
    late = holders & level.after(node.name)
    if not holders:
        message = f"{node.name} waits for signals to {', '.join(sorted(handles))}, which no other resource refers to"
        hint = "give the attribute curl_cli of the handle to the server that signals, or return it as an output"
        yield structure.diagnostic(path, rules.UNREACHABLE_WAIT, message, hint)
    elif late == holders:
        names = ", ".join(sorted(late))
        message = f"{node.name} waits for signals from {names}, which is created only after it"
        yield structure.diagnostic(path, rules.UNREACHABLE_WAIT, message, f"{names} must not depend on {node.name}")


def _on_one_host(structure: Structure, path: str, node: Node, level: Level) -> Iterator[Diagnostic]:
    """Yield that a server group keeps the servers of a load balancer together."""
    if "affinity" not in node.values.get("policies", ()) or not any(
        each.type in _BALANCERS for each in level.nodes.values()
    ):
        return
    members = [each for each in level.nodes.values() if node.name in each.refers_to]
    if sum(_servers_of(each) for each in members) > 1:
        names = ", ".join(each.name for each in members)
        message = f"{node.name} puts the servers of {names} on one host: its failure stops all that are balanced"
        yield structure.diagnostic(path, rules.SINGLE_HOST, message, "use the policy anti-affinity")


def _servers_of(node: Node) -> int:
    """Return how many servers a resource is: more than one for a group, if this is known."""
    values = (node.values.get(name) for name in ("count", "desired_capacity", "min_size", "size"))
    return next((value for value in values if isinstance(value, int)), 1)


def _batches(structure: Structure, path: str, node: Node, limit: float) -> Iterator[Diagnostic]:
    """Yield the policies of a group whose pauses take longer than the stack's time limit, in seconds."""
    for name, policy, members in _policies(node):
        if has_unknown(policy) or not isinstance(members, int) or "pause_time" not in policy:
            continue
        rolling = rolling_of({"max_batch_size": 1, **policy})
        if name == "batch_create":
            planned = list(batches(members, 0, rolling, lasting_changes))
        else:
            counted = lasting_changes if name == "rolling_update" else every_change
            planned = list(batches(members, members, rolling, counted))
        pauses = sum(batch.pause for batch in planned)
        if pauses and pauses >= limit:
            message = (
                f"the pauses between the {len(planned)} batches of {node.name} ({name}) take {pauses:g} s, "
                f"and the time limit of the stack is {limit:g} s"
            )
            hint = "make pause_time shorter or max_batch_size larger, or deploy with a longer --timeout"
            yield structure.diagnostic(path, rules.BATCHES_OUTLAST, message, hint)


def _policies(node: Node) -> Iterator[tuple[str, Mapping[str, object], object]]:
    """Yield the policies for batches of a group, by name, and the number of members."""
    for name in ("batch_create", "rolling_update"):
        policy = node.update_policy.get(name)
        if isinstance(policy, Mapping):
            yield name, policy, node.values.get("count")
    policy = node.values.get("rolling_updates")
    if isinstance(policy, Mapping):
        members = node.values.get("desired_capacity")
        yield "rolling_updates", policy, node.values.get("min_size") if members is None else members


# -- results without disruptions ---------------------------------------------------------------------------------------


def undisturbed_findings(outcome: Outcome, before: Structure, after: Structure) -> Iterator[Diagnostic]:
    """Yield what an undisturbed run shows, but for failures. `before` and `after` are the template and the new one."""
    update = outcome.phase(UPDATE)
    if update is not None and update.succeeded:
        for path, kind in sorted(update.lost.items()):
            if kind in _WITHOUT_DATA:
                continue
            there = after if after.find(path) is not None and _names(after, path) else before
            message = f"the update replaces or removes {path} ({kind}), and its data are lost"
            hint = "deletion_policy: Snapshot or Retain keeps them; or leave what requires the replacement as it is"
            yield there.diagnostic(path, rules.DATA_REPLACED, message, hint)
    if update is not None:
        yield from _signals_lost(update, after)
    yield from left_behind(outcome.left, before)


def _signals_lost(update: Phase, structure: Structure) -> Iterator[Diagnostic]:
    """Yield the wait conditions that wait during an update, although nothing that signals starts again in it."""
    for path in update.waited:
        level, node = structure.chain(path)[-1]
        handles = {name for name in node.refers_to if name in level.nodes and level.nodes[name].type in HANDLES}
        holders = set[str]().union(*(level.after(name) for name in handles)) - {node.name} - level.after(node.name)
        changed = {step.path for step in update.steps}
        above = path[: len(path) - len(path.rsplit(".", 1)[-1])]
        if not holders or handles & level.shown or any(_is_changed(f"{above}{name}", changed) for name in holders):
            continue
        names = ", ".join(sorted(holders))
        message = f"{node.name} waits during the update for signals from {names}, which the update leaves as it is"
        hint = f"programs of user data run only once: have the update replace {names}, or leave {node.name} as it is"
        yield structure.diagnostic(path, rules.UNREACHABLE_WAIT, message, hint)


def _is_changed(path: str, changed: set[str]) -> bool:
    return any(each == path or each.startswith(f"{path}.") for each in changed)


def left_behind(left: Sequence[LeftObject], structure: Structure, when: str = "") -> Iterator[Diagnostic]:
    """Yield the objects that stay, together for each resource."""
    by_resource: dict[str, list[LeftObject]] = {}
    for each in left:
        by_resource.setdefault(each.resource, []).append(each)
    for resource, found in by_resource.items():
        kinds = sorted({f"{each.collection} of {each.service}" for each in found})
        of = f" of {resource}" if resource else ""
        number = "an object" if len(found) == 1 else f"{len(found)} objects"
        stay = "stays" if len(found) == 1 else "stay"
        message = f"{number}{of} {stay} after the deletion of the stack{when}: {', '.join(kinds)}"
        yield structure.diagnostic(resource, rules.LEFT_BEHIND, message)


def fails(phase: Phase, structure: Structure, rule: str) -> Diagnostic:
    """Return that a phase fails, at the resource that fails first."""
    failure = first_failure(phase)
    if failure is None:
        return structure.diagnostic("", rule, phase.reason)
    return structure.diagnostic(failure.path, rule, f"{failure.path}: {failure.reason}")


def first_failure(phase: Phase) -> Failure | None:
    """Return the failure that was the first of a phase."""
    return phase.failures[0] if phase.failures else None


def _names(structure: Structure, path: str) -> bool:
    """Return whether a template has a resource of exactly this name at the end of the path."""
    return structure.chain(path)[-1][1].name == path.rsplit(".", 1)[-1]


# -- results -----------------------------------------------------------------------------------------------------------


class DisruptionFindings:
    """What runs with disruptions show. Each finding is made once, for the first run that shows it."""

    def __init__(self, runs: Runs, undisturbed: Outcome, before: Structure, after: Structure) -> None:
        self._runs = runs
        self._before = before
        self._after = after
        self._known = {(each.service, each.collection, each.resource) for each in undisturbed.left}
        self._found: set[tuple[str, ...]] = set()
        self._races: dict[str, list[_Race]] = {}

    def findings(self, run: Run, outcome: Outcome) -> Iterator[Diagnostic]:
        """Yield what is new in the outcome of a run."""
        for key, finding in self._all(run, outcome):
            if (finding.rule, *key) not in self._found:
                self._found.add((finding.rule, *key))
                yield finding

    def _all(self, run: Run, outcome: Outcome) -> Iterator[tuple[tuple[str, ...], Diagnostic]]:
        phase = outcome.phase(run.disruptions[0].phase)
        if phase is None or not outcome.met:
            return
        structure = self._before if phase.name in (CREATE, DELETE) else self._after
        if len(run.disruptions) == 1 and run.disruptions[0].kind is DisruptionKind.SLOW:
            self._note_race(run, phase, structure)
        what = f" (run {run.number})"
        if len(run.disruptions) == 1 and run.disruptions[0].kind in PASSING and phase.rollback_failures:
            failure = phase.rollback_failures[0]
            if phase.state == "ROLLBACK_FAILED":
                message = f"the rollback after a failed {phase.name} fails at {failure.path}: {failure.reason}{what}"
                yield (failure.path,), structure.diagnostic(failure.path, rules.ROLLBACK_FAILS, message)
        if phase.name == DELETE and phase.again not in ("", "DELETED"):
            message = f"the stack cannot be deleted any more after a failed deletion{what}"
            yield (phase.again,), structure.diagnostic("", rules.DELETION_REFUSED, message)
        new = [each for each in outcome.left if (each.service, each.collection, each.resource) not in self._known]
        for finding in left_behind(new, self._before, what):
            yield (finding.source, *map(str, finding.path)), finding

    def _note_race(self, run: Run, phase: Phase, structure: Structure) -> None:
        """Note what fails only because something else takes long, although the order of both is not known.

        The phase may succeed nevertheless: a stack of another region that fails is created again.
        """
        request, failure = self._runs.request(run.disruptions[0]), first_failure(phase)
        if request is None or failure is None or failure.timed_out:
            return
        slow, failed = request.resource, failure.path
        if slow == failed or slow.startswith(f"{failed}.") or failed.startswith(f"{slow}."):
            return
        first, second = (slow, failed) if failure.action != "DELETE" else (failed, slow)
        found = sibling(structure, first, second)
        if found is not None:
            earlier, path = found
            self._races.setdefault(path, []).append(_Race(earlier, failure, run.number, structure))

    @property
    def hidden(self) -> set[tuple[str, str]]:
        """The paths of resources of which the second needs the first, without depending on it."""
        return {
            (f"{path[: len(path) - len(path.rsplit('.', 1)[-1])]}{race.earlier}", path)
            for path, races in self._races.items()
            for race in races
        }

    def races(self) -> Iterator[Diagnostic]:
        """Yield the dependencies that are missing, when all runs are done.

        If something waits for several resources of which one depends on the others, that one is meant.
        """
        for path, races in self._races.items():
            level, node = races[0].structure.chain(path)[-1]
            names = {race.earlier for race in races}
            for race in {race.earlier: race for race in reversed(races)}.values():
                if not level.after(race.earlier) & names:
                    reason = race.failure.reason
                    yield missing_dependency(race.structure, path, node.name, race.earlier, reason, race.run)


@dataclass(frozen=True, slots=True)
class _Race:
    """A failure that occurs only if `earlier` takes long."""

    earlier: str
    failure: Failure
    run: int
    structure: Structure


def missing_dependency(
    structure: Structure, path: str, later: str, earlier: str, reason: str, number: int = 0
) -> Diagnostic:
    """Return that a resource has to depend on another one. `number` is that of the run that has shown it, if any."""
    run = f" (run {number})" if number else ""
    message = f"{later} needs {earlier}, and does not depend on it{run}: {reason}"
    return structure.diagnostic(path, rules.MISSING_DEPENDENCY, message, f"add `depends_on: {earlier}` to {later}")


def sibling(structure: Structure, first: str, second: str) -> tuple[str, str] | None:
    """Return the name of the resource that contains the first of two, and the path of the one that contains the second:
    those that are written in the same template.

    None if there are none, or if one depends on the other: the order is known then.
    """
    one, two = structure.chain(first), structure.chain(second)
    for number, ((level, node), (_, other)) in enumerate(zip(one, two, strict=False)):
        if node.name == other.name:
            continue
        if not level.own or node.name in level.after(other.name) or other.name in level.after(node.name):
            return None
        return node.name, ".".join(second.split(".")[: number + 1])
    return None
