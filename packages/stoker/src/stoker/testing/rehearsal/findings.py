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


def template_findings(structure: Structure, timeout: int | None) -> Iterator[Diagnostic]:
    """Yield what the template shows without a run."""
    for path, node, level in structure.walk():
        if node.type in CONDITIONS:
            yield from _unreachable_wait(structure, path, node, level)
        if node.type == _SERVER_GROUP:
            yield from _single_host(structure, path, node, level)
        yield from _long_pauses(structure, path, node, time_limit(EngineSettings(), timeout))


def _unreachable_wait(structure: Structure, path: str, node: Node, level: Level) -> Iterator[Diagnostic]:
    """Yield that a wait condition waits for signals to a handle that nothing has while it waits."""
    handles = _handles(level, node)
    if not handles or handles & level.shown:
        return
    holders = {
        other.name
        for other in level.nodes.values()
        if other.refers_to & handles and other.type not in CONDITIONS and other.name != node.name
    }
    if not holders:
        message = f"{node.name} waits for signals to {', '.join(sorted(handles))}, which no other resource refers to"
        hint = "give the attribute curl_cli of the handle to the server that signals, or return it as an output"
        yield structure.diagnostic(path, rules.UNREACHABLE_WAIT, message, hint)
    elif holders <= level.after(node.name):
        names = ", ".join(sorted(holders))
        message = f"{node.name} waits for signals from {names}, which is created only after it"
        yield structure.diagnostic(path, rules.UNREACHABLE_WAIT, message, f"{names} must not depend on {node.name}")


def _single_host(structure: Structure, path: str, node: Node, level: Level) -> Iterator[Diagnostic]:
    """Yield that a server group keeps the servers of a load balancer together."""
    is_balanced = any(resource.type in _BALANCERS for resource in level.nodes.values())
    if not is_balanced or "affinity" not in node.values.get("policies", ()):
        return
    members = [resource for resource in level.nodes.values() if node.name in resource.refers_to]
    if sum(_server_count(member) for member in members) > 1:
        names = ", ".join(member.name for member in members)
        message = f"{node.name} puts the servers of {names} on one host: its failure stops all that are balanced"
        yield structure.diagnostic(path, rules.SINGLE_HOST, message, "use the policy anti-affinity")


def _server_count(node: Node) -> int:
    """Return how many servers a resource is: more than one for a group, if this is known."""
    values = (node.values.get(name) for name in ("count", "desired_capacity", "min_size", "size"))
    return next((value for value in values if isinstance(value, int)), 1)


def _long_pauses(structure: Structure, path: str, node: Node, limit: float) -> Iterator[Diagnostic]:
    """Yield the policies of a group whose pauses take longer than the stack's time limit, in seconds."""
    for name, policy, members in _batch_policies(node):
        if has_unknown(policy) or not isinstance(members, int) or "pause_time" not in policy:
            continue
        rolling = rolling_of({"max_batch_size": 1, **policy})
        if name == "batch_create":
            planned = list(batches(members, 0, rolling, lasting_changes))
        else:
            counted_changes = lasting_changes if name == "rolling_update" else every_change
            planned = list(batches(members, members, rolling, counted_changes))
        pauses = sum(batch.pause for batch in planned)
        if pauses and pauses >= limit:
            message = (
                f"the pauses between the {len(planned)} batches of {node.name} ({name}) take {pauses:g} s, "
                f"and the time limit of the stack is {limit:g} s"
            )
            hint = "make pause_time shorter or max_batch_size larger, or deploy with a longer --timeout"
            yield structure.diagnostic(path, rules.BATCHES_OUTLAST, message, hint)


def _batch_policies(node: Node) -> Iterator[tuple[str, Mapping[str, object], object]]:
    """Yield the name of each policy for batches of a group, the policy, and the number of members."""
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
        for path, type_name in sorted(update.lost.items()):
            if type_name in _WITHOUT_DATA:
                continue
            structure = after if _has_resource(after, path) else before
            message = f"the update replaces or removes {path} ({type_name}), and its data are lost"
            hint = "deletion_policy: Snapshot or Retain keeps them; or leave what requires the replacement as it is"
            yield structure.diagnostic(path, rules.DATA_REPLACED, message, hint)
    if update is not None:
        yield from _signals_lost(update, after)
    yield from left_behind(outcome.left, before)


def _signals_lost(update: Phase, structure: Structure) -> Iterator[Diagnostic]:
    """Yield the wait conditions that wait during an update, although nothing that signals starts again in it."""
    for path in update.waited:
        level, node = structure.chain(path)[-1]
        handles = _handles(level, node)
        dependents = set[str]().union(*(level.after(name) for name in handles))
        holders = dependents - {node.name} - level.after(node.name)
        changed = {step.path for step in update.steps}
        if not holders or handles & level.shown:
            continue
        if any(_is_changed(_sibling_path(path, name), changed) for name in holders):
            continue
        names = ", ".join(sorted(holders))
        message = f"{node.name} waits during the update for signals from {names}, which the update leaves as it is"
        hint = f"programs of user data run only once: have the update replace {names}, or leave {node.name} as it is"
        yield structure.diagnostic(path, rules.UNREACHABLE_WAIT, message, hint)


def _handles(level: Level, node: Node) -> set[str]:
    """Return the handles of wait conditions that a resource refers to."""
    return {name for name in node.refers_to if name in level.nodes and level.nodes[name].type in HANDLES}


def _is_changed(path: str, changed: set[str]) -> bool:
    """Return whether a resource or anything in it is among the changed ones."""
    return path in changed or any(other.startswith(f"{path}.") for other in changed)


def _sibling_path(path: str, name: str) -> str:
    """Return the path of the resource of this name in the template that has the resource of the path."""
    parent, dot, _ = path.rpartition(".")
    return f"{parent}{dot}{name}"


def left_behind(left: Sequence[LeftObject], structure: Structure, when: str = "") -> Iterator[Diagnostic]:
    """Yield the objects that stay, together for each resource."""
    by_resource: dict[str, list[LeftObject]] = {}
    for left_object in left:
        by_resource.setdefault(left_object.resource, []).append(left_object)
    for resource, objects in by_resource.items():
        collections = sorted({f"{left_object.collection} of {left_object.service}" for left_object in objects})
        number, verb = ("an object", "stays") if len(objects) == 1 else (f"{len(objects)} objects", "stay")
        owner = f" of {resource}" if resource else ""
        message = f"{number}{owner} {verb} after the deletion of the stack{when}: {', '.join(collections)}"
        yield structure.diagnostic(resource, rules.LEFT_BEHIND, message)


def failure_finding(phase: Phase, structure: Structure, rule: str) -> Diagnostic:
    """Return the finding that a phase fails, at the resource that fails first."""
    failure = first_failure(phase)
    if failure is None:
        return structure.diagnostic("", rule, phase.reason)
    return structure.diagnostic(failure.path, rule, f"{failure.path}: {failure.reason}")


def first_failure(phase: Phase) -> Failure | None:
    """Return the failure that was the first of a phase."""
    return phase.failures[0] if phase.failures else None


def _has_resource(structure: Structure, path: str) -> bool:
    """Return whether a template has a resource of exactly this name at the end of the path."""
    node = structure.find(path)
    return node is not None and node.name == path.rpartition(".")[2]


# -- results -----------------------------------------------------------------------------------------------------------


class DisruptionFindings:
    """What runs with disruptions show. Each finding is made once, for the first run that shows it."""

    def __init__(self, runs: Runs, undisturbed: Outcome, before: Structure, after: Structure) -> None:
        self._runs = runs
        self._before = before
        self._after = after
        self._left_undisturbed = {_identity(left_object) for left_object in undisturbed.left}
        self._reported: set[tuple[str, ...]] = set()
        self._races: dict[str, list[_Race]] = {}

    def findings(self, run: Run, outcome: Outcome) -> Iterator[Diagnostic]:
        """Yield what is new in the outcome of a run."""
        for key, finding in self._all_findings(run, outcome):
            if (finding.rule, *key) not in self._reported:
                self._reported.add((finding.rule, *key))
                yield finding

    def _all_findings(self, run: Run, outcome: Outcome) -> Iterator[tuple[tuple[str, ...], Diagnostic]]:
        """Yield each finding of a run, after a key that is the same for equal ones of other runs."""
        phase = outcome.phase(run.disruptions[0].phase)
        if phase is None or not outcome.met:
            return
        structure = self._before if phase.name in (CREATE, DELETE) else self._after
        only_kind = run.disruptions[0].kind if len(run.disruptions) == 1 else None
        if only_kind is DisruptionKind.SLOW:
            self._note_race(run, phase, structure)
        in_run = f" (run {run.number})"
        if only_kind in PASSING and phase.rollback_failures:
            failure = phase.rollback_failures[0]
            if phase.state == "ROLLBACK_FAILED":
                message = f"the rollback after a failed {phase.name} fails at {failure.path}: {failure.reason}{in_run}"
                yield (failure.path,), structure.diagnostic(failure.path, rules.ROLLBACK_FAILS, message)
        if phase.name == DELETE and phase.again not in ("", "DELETED"):
            message = f"the stack cannot be deleted any more after a failed deletion{in_run}"
            yield (phase.again,), structure.diagnostic("", rules.DELETION_REFUSED, message)
        new = [left_object for left_object in outcome.left if _identity(left_object) not in self._left_undisturbed]
        for finding in left_behind(new, self._before, in_run):
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
        earlier, later = (slow, failed) if failure.action != "DELETE" else (failed, slow)
        siblings = unordered_siblings(structure, earlier, later)
        if siblings is not None:
            name, path = siblings
            self._races.setdefault(path, []).append(_Race(name, failure, run.number, structure))

    @property
    def hidden_dependencies(self) -> set[tuple[str, str]]:
        """The paths of resources of which the second needs the first, without depending on it."""
        return {(_sibling_path(path, race.earlier), path) for path, races in self._races.items() for race in races}

    def races(self) -> Iterator[Diagnostic]:
        """Yield the dependencies that are missing, when all runs are done.

        If something waits for several resources of which one depends on the others, that one is meant.
        """
        for path, races in self._races.items():
            level, node = races[0].structure.chain(path)[-1]
            first_races = {race.earlier: race for race in reversed(races)}
            for race in first_races.values():
                if not level.after(race.earlier) & first_races.keys():
                    reason = race.failure.reason
                    yield missing_dependency(race.structure, path, node.name, race.earlier, reason, race.run)


def _identity(left_object: LeftObject) -> tuple[str, str, str]:
    """Return what is the same for an object in all runs, unlike its ID."""
    return left_object.service, left_object.collection, left_object.resource


@dataclass(frozen=True, slots=True)
class _Race:
    """A failure that occurs only if the resource `earlier` takes long."""

    earlier: str
    failure: Failure
    run: int
    structure: Structure


def missing_dependency(
    structure: Structure, path: str, later: str, earlier: str, reason: str, number: int = 0
) -> Diagnostic:
    """Return that a resource has to depend on another one. `number` is that of the run that has shown it, if any."""
    in_run = f" (run {number})" if number else ""
    message = f"{later} needs {earlier}, and does not depend on it{in_run}: {reason}"
    return structure.diagnostic(path, rules.MISSING_DEPENDENCY, message, f"add `depends_on: {earlier}` to {later}")


def unordered_siblings(structure: Structure, first: str, second: str) -> tuple[str, str] | None:
    """Return the two resources of one template that contain the resources at two paths: the name of the one that
    contains the first, and the path of the one that contains the second.

    None if no template has both, or if one of the two depends on the other, so that their order is known.
    """
    chains = zip(structure.chain(first), structure.chain(second), strict=False)
    for depth, ((level, above_first), (_, above_second)) in enumerate(chains):
        if above_first.name == above_second.name:
            continue
        after_first, after_second = level.after(above_first.name), level.after(above_second.name)
        if not level.own or above_first.name in after_second or above_second.name in after_first:
            return None
        return above_first.name, ".".join(second.split(".")[: depth + 1])
    return None
