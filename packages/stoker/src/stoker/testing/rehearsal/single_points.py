"""The resources whose failure stops everything that a stack is for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stoker.testing.rehearsal.rehearsal import Rehearsal
from stoker.testing.rehearsal.scenario import CREATE
from stoker.testing.rehearsal.structure import Level, Structure

_WORKLOADS = frozenset(
    {
        "OS::Nova::Server",
        "AWS::EC2::Instance",
        "OS::Trove::Instance",
        "OS::Trove::Cluster",
        "OS::Magnum::Cluster",
        "OS::Sahara::Cluster",
        "OS::Zun::Container",
    }
)
"""Types of the objects that do what users want; others, such as networks, serve these."""
_OF_THE_ENGINE = (None, "heat")


@dataclass(frozen=True, slots=True)
class SinglePoint:
    """A resource whose failure stops everything: `dependents` of all `of` other resources, at all levels, depend on it.

    `run` is the number of a run in which its creation fails for good, and `state` that of the stack after it; 0 and
    nothing if there is none.
    """

    path: str
    dependents: int
    of: int
    run: int = 0
    state: str = ""


def single_points(rehearsal: Rehearsal) -> list[SinglePoint]:
    """Return the single points of failure, those on which most others depend first.

    What counts is that no end of the stack is left: the workloads, and what is made for them, such as members of pools;
    without workloads, all objects on which no other one depends. What a template leaves to chance, and runs have shown,
    is a dependency, too.
    """
    created = rehearsal.undisturbed.phase(CREATE)
    paths = {step.path for step in created.steps} if created is not None and created.succeeded else set()
    leaves = sorted(path for path in paths if not any(other.startswith(f"{path}.") for other in paths))
    graph = _Graph(rehearsal.structure, leaves, rehearsal.hidden)
    after = {path: graph.after(path) for path in leaves}
    ends = set(_ends(rehearsal.structure, after))
    failures = dict(_failures(rehearsal))
    points = [
        SinglePoint(path, len(after[path]), len(leaves) - 1, *failures.get(path, (0, "")))
        for path in leaves
        if ends and ends <= after[path] | {path} and _is_object(rehearsal.structure, path)
    ]
    return sorted(points, key=lambda point: (-point.dependents, point.path))


def _ends(structure: Structure, after: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield what is for nothing else in the stack."""
    objects = {path for path in after if _is_object(structure, path)}
    workloads = {path for path in objects if (node := structure.find(path)) and node.type in _WORKLOADS}
    of_workloads = workloads.union(*(after[path] for path in workloads)) if workloads else objects
    for path in objects & of_workloads:
        if not objects & set(after[path]):
            yield path


def _is_object(structure: Structure, path: str) -> bool:
    """Return whether a resource is an object of a service, and nothing of the engine, such as a wait condition."""
    node = structure.find(path)
    return node is not None and node.kind is not None and node.kind.service not in _OF_THE_ENGINE


def _failures(rehearsal: Rehearsal) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the resources whose creation fails in a run, with its number and the state of the stack; the first last."""
    for run, outcome in reversed(rehearsal.outcomes):
        [first, *more] = run.disruptions
        phase = outcome.phase(CREATE)
        if more or first.phase != CREATE or phase is None or phase.succeeded or not phase.failures:
            continue
        request = rehearsal.runs.request(first)
        if request is not None and request.resource == phase.failures[0].path:
            yield request.resource, (run.number, phase.state)


class _Graph:
    """What depends on what, at all levels. `hidden` are pairs of paths: the second needs the first."""

    def __init__(self, structure: Structure, leaves: Sequence[str], hidden: Collection[tuple[str, str]]) -> None:
        self._structure = structure
        self._leaves = leaves
        self._hidden: dict[str, set[str]] = {}
        for earlier, later in hidden:
            self._hidden.setdefault(later, set()).add(earlier)

    def after(self, path: str) -> set[str]:
        """Return the leaves that cannot be there without one: what depends on it, or on what contains it.

        Other members of its group can.
        """
        dependents: set[str] = set()
        parts = path.split(".")
        for depth, (level, node) in reversed(list(enumerate(self._structure.chain(path)))):
            above = "".join(f"{part}." for part in parts[:depth])
            if level.own:
                for name in level.after(node.name, self._hidden_in(level, above)):
                    dependents |= self._below(f"{above}{name}")
            elif self._below(above.removesuffix(".")) - self._below(f"{above}{parts[depth]}"):
                break
        return dependents - {path}

    def _below(self, path: str) -> set[str]:
        return {leaf for leaf in self._leaves if leaf == path or leaf.startswith(f"{path}.")}

    def _hidden_in(self, level: Level, above: str) -> dict[str, frozenset[str]]:
        needed = {name: self._hidden.get(f"{above}{name}", ()) for name in level.nodes}
        return {name: frozenset(path.removeprefix(above) for path in paths) for name, paths in needed.items() if paths}
