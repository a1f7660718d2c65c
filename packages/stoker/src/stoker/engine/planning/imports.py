"""Which existing objects get resources before a plan is made: those of the entries `imports` of the environment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.moves import outer_of
from stoker.engine.planning.plan import Decision
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.stack_view import Recorded, current_of
from stoker.engine.records.state import Path, ResourceState
from stoker.plugins.live_values import has_object
from stoker.plugins.resource import ResourceType
from stoker.schema.unknown import has_unknown
from stoker.store.records import Resource, Stack
from stoker.template.expressions import Facade
from stoker.template.transfers import Import, Release, Transfers

IMPORTED_BY = ("CREATE", "UPDATE")
"""The actions that carry out imports; a return to a former definition imports nothing."""


@dataclass(frozen=True, slots=True)
class Imports:
    """The resources of imported objects, as they are recorded before the plan is made.

    `states` are new resources, and recorded ones that only referred to their object until now. `prefetched` are the
    attributes of other resources that were read for their values (see `RecordedScope`). `unread` is what could not be
    compared of each object, by the UUID of its resource; empty for nothing. `below` are those of nested stacks, by the
    path of the resource around each.
    """

    states: tuple[ResourceState, ...] = ()
    prefetched: Mapping[tuple[str, str], object] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    below: Mapping[Path, Imports] = field(default_factory=dict)

    def reaches(self, path: Path) -> bool:
        """Return whether there are any in the nested stack of the resource at a path, or further below."""
        return any(each[: len(path)] == path for each in self.below)


NO_IMPORTS = Imports()


@dataclass(frozen=True, slots=True)
class NestedImport:
    """A nested stack some of whose imports are `pending`: these by name, its definition, the stack `around` it, what is
    recorded of it (None if it does not exist yet), and its `facade`. Its parameters are all known if it `is_known`.
    """

    path: Path
    around: Stack
    recorded: Recorded | None
    facade: Facade
    desired: DesiredState
    pending: Mapping[str, Import]
    is_known: bool


@dataclass(slots=True)
class NestedImportSearch:
    """Finds the imports of nested stacks whose objects were not read yet, while the tree is planned.

    `former` are the entries with which the stack was deployed before. Afterwards `found` are the nested stacks with
    such imports, and `problems` are those with entries about nested stacks; `reached` are the places of the entries
    whose resources there are.
    """

    former: Transfers
    found: dict[Path, NestedImport] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    reached: set[object] = field(default_factory=set)

    def search(
        self,
        path: Path,
        around: Stack,
        recorded: Recorded | None,
        facade: Facade,
        desired: DesiredState,
        states: Iterable[ResourceState],
    ) -> None:
        """Note what a nested stack lacks. `around` is the stack around it, `states` are its resources."""
        transfers, former = desired.inputs.environment.transfers, self.former
        for name in path:
            former = former.inside(name)
        self.reached |= {each.written for each in transfers.imports if each.target in desired.definition.resources}
        self.problems += release_problems(transfers.removed, desired)
        try:
            pending = pending_imports(desired, states, former.imports)
        except TemplateInvalid as error:
            self.problems += error.diagnostics
            return
        if pending:
            is_known = not has_unknown(desired.inputs.parameters)
            self.found[path] = NestedImport(path, around, recorded, facade, desired, pending, is_known)

    def unreached(self, imports: Mapping[str, Import], desired: DesiredState) -> Iterator[Diagnostic]:
        """Yield a problem for each import (by path) of a nested stack of which is not known what it will have."""
        for path, entry in imports.items():
            is_settled = path in desired.definition.resources or entry in self.former.imports
            if not is_settled and entry.written not in self.reached:
                message = f"what {path} will be is only known when it is deployed: import it in a later deployment"
                yield entry.problem(message, "to")


def release_problems(removed: Iterable[Release], desired: DesiredState) -> Iterator[Diagnostic]:
    """Yield a problem for each entry `removed` whose resource the definition has."""
    for release in removed:
        if release.source in desired.definition.resources:
            message = f"the template has the resource {release.above}{release.source}, so it is not removed"
            yield release.problem(message, "from", "remove it from the template, or the entry")
        elif (outer := outer_of(release.source, desired.definition.resources)) is not None:
            yield from _not_nested(release, "from", outer, desired)


def _not_nested(entry: Import | Release, key: str, outer: str, desired: DesiredState) -> Iterator[Diagnostic]:
    """Yield a problem with a path that leads into a resource which has no nested stack."""
    implementation, kind = desired.types.get(outer, ("", None))
    if kind is not None and not kind.nested:
        yield entry.problem(f"{entry.above}{outer} is no nested stack: it has the type {implementation}", key)


def pending_imports(
    desired: DesiredState, states: Iterable[ResourceState], former: Collection[Import] | None
) -> dict[str, Import]:
    """Return the imports that are not satisfied yet, by the names of their resources, which have their new names.

    `former` are the entries with which the stack was deployed before, which have been carried out; None in a run, whose
    entries have been checked. Raises TemplateInvalid for entries that cannot be carried out.
    """
    known, current = desired.definition.resources, current_of(states)
    pending: dict[str, Import] = {}
    problems: list[Diagnostic] = []
    for name, entry in desired.inputs.environment.transfers.imports_by_name(known).items():
        state = current.get(name)
        is_settled = former is None or (entry in former and (name not in known or _owns(state)))
        if not is_settled:
            problems += _problems(entry, name, desired, current)
        if name in known and not _owns(state):
            pending[name] = entry
    if problems:
        raise TemplateInvalid(problems)
    return {name: pending[name] for name in desired.order if name in pending}


def _owns(state: ResourceState | None) -> bool:
    """Return whether a resource has an object, and does not only refer to it."""
    return state is not None and state.row.physical_id is not None and not _refers(state)


def _refers(state: ResourceState) -> bool:
    return state.stored.definition.get("external_id") is not None


def _problems(
    entry: Import, name: str, desired: DesiredState, current: Mapping[str, ResourceState]
) -> Iterator[Diagnostic]:
    known, state, path = desired.definition.resources, current.get(name), f"{entry.above}{name}"
    if (outer := outer_of(name, known)) is not None:
        yield from _not_nested(entry, "to", outer, desired)
    elif name not in known:
        yield entry.problem(f"the template has no resource {path}, as which {entry.object} is imported", "to")
    elif known[name].external_id is not None:
        message = f"the resource {path} only refers to an object (external_id), and cannot own {entry.object}"
        yield entry.problem(message, "to", "remove the external_id, or the entry")
    elif name in desired.types and (why := unsuitable(desired.types[name][1])):
        yield entry.problem(f"objects of the type {known[name].type} cannot be imported: {why}", "to")
    elif state is not None and entry.identifier is not None and state.row.physical_id not in (None, entry.identifier):
        message = f"the resource {path} has the object {state.row.physical_id} already"
        yield entry.problem(message, "id", "import the other one as a resource of its own, or remove the entry")


def unsuitable(kind: ResourceType) -> str:
    """Return why objects of a type cannot be imported; empty if they can."""
    if kind.nested:
        return "they are nested stacks"
    if not has_object(kind):
        return "they exist only in Stoker's own database"
    if kind.object_ids is None and not kind.id_is_new:
        return "they have no identity of their own, as each belongs to other objects"
    if not kind.checkable and type(kind).adopt is ResourceType.adopt:
        return "the type cannot adopt existing objects"
    return ""


def obstacles(decision: Decision) -> list[str]:
    """Return the properties, or other reasons, because of which an object cannot become the resource."""
    if decision.kind not in (StepKind.REPLACE, StepKind.REFUSE):
        return []
    named = [change.name for change in decision.changes if change.effect in ("replace", "refuse")]
    return named or [reason.sentence() for reason in decision.reasons]


def returned_references(desired: DesiredState, current: Mapping[str, ResourceState]) -> list[Resource]:
    """Let resources refer to their objects again, where a former definition says so and an import has changed that.

    Return the rows that have changed.
    """
    changed = []
    for name, resource in desired.definition.resources.items():
        state = current.get(name)
        if resource.external_id is None or state is None or not state.stored.origin.imported or _refers(state):
            continue
        if str(resource.external_id) == state.row.physical_id:
            state.stored.definition["external_id"] = resource.external_id
            state.stored.origin = replace(state.stored.origin, imported="")
            state.recorded_id, state.row.fingerprint = None, ""
            changed.append(state.seal())
    return changed
