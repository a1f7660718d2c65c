"""Check the sections `imports`, `moved` and `removed` of a request, and read the objects that are imported."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.base.ids import new_id
from stoker.cloud.session import Cloud
from stoker.engine.calls.context import ActionComponents, StackContext
from stoker.engine.planning.imports import (
    NO_IMPORTS,
    Imports,
    NestedImport,
    NestedImportSearch,
    pending_imports,
    release_problems,
)
from stoker.engine.planning.moves import outer_of
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.relocation import CompletedMoves, carry_out, desired_paths, read
from stoker.engine.planning.transfer_checks import check_below
from stoker.engine.records.stack_view import Recorded
from stoker.engine.records.state import Path
from stoker.engine.running.imports import Claimed, read_imports
from stoker.store.journal import NoWriter
from stoker.store.records import Stack
from stoker.template.transfers import Import, Transfers


async def check_transfers(
    components: ActionComponents, context: RequestContext, stack: Stack, desired: DesiredState
) -> Imports:
    """Refuse what the environment moves, imports or removes if that is not possible; return the imported objects.

    The objects are read as the caller: nobody imports what he cannot read. Raises TemplateInvalid.
    """
    checking = _Checking(components, stack, desired)
    pending = await components.services.database.read(checking.first)
    if not pending and not checking.is_below:
        return NO_IMPORTS
    checking.cloud = await components.services.credentials.of_caller(context)
    if pending:
        view = StackContext(components, stack, NoWriter())
        view.fill(checking.recorded)
        view.use(checking.cloud)
        checking.imports = await read_imports(view, desired, pending, checking.claimed)
    return await checking.below() if checking.is_below else checking.imports


@dataclass(slots=True)
class _Checking:
    """The check of one request. `imports` are those that were read so far."""

    components: ActionComponents
    stack: Stack
    desired: DesiredState
    recorded: Recorded = field(init=False)
    cloud: Cloud = field(init=False)
    imports: Imports = NO_IMPORTS
    is_below: bool = False
    claimed: Claimed = field(default_factory=dict)

    def first(self, connection: Connection) -> dict[str, Import]:
        """Check everything but what is imported and removed in nested stacks; return the imports of the stack itself.

        Whether there is more to check is known afterwards (`is_below`).
        """
        completed, former = self._moved(connection)
        desired, transfers = self.desired, self.desired.inputs.environment.transfers
        known = {*desired.definition.resources, *self.recorded.current}
        names = [*transfers.imports_by_name(desired.definition.resources), *(each.source for each in transfers.removed)]
        self.is_below = any(outer_of(name, known) is not None for name in names)
        problems = list(release_problems(transfers.removed, desired))
        if completed.stacks and not self.is_below:
            problems += check_below(self.components.services, connection, desired, completed)
        pending = _collected(problems, desired, completed, former)
        if problems:
            raise TemplateInvalid(problems)
        return pending

    def _moved(self, connection: Connection) -> tuple[CompletedMoves, Transfers]:
        """Read the record, and move resources in memory; return that, and the entries of the former deployment."""
        services, desired = self.components.services, self.desired
        self.recorded = recorded = Recorded.of(services, connection, self.stack)
        tree = read(services, connection, "UPDATE", desired, recorded)
        completed = carry_out(services, desired, tree, desired_paths("UPDATE", "", desired, tree))
        former = recorded.inputs.environment.transfers if recorded.inputs is not None else Transfers()
        return completed, former

    async def below(self) -> Imports:
        """Return the imports together with those of nested stacks.

        What an import gives to others is known when its object has been read, so the tree is planned again until all
        are: first those that depend on nothing unknown are read.
        """
        while sought := await self.components.services.database.read(self._unread_nested):
            ready = [each for each in sought if each.is_known] or sought
            problems = list[Diagnostic]()
            for each in ready:
                try:
                    found = await read_imports(self._inside(each), each.desired, each.pending, self.claimed)
                except TemplateInvalid as error:
                    problems += error.diagnostics
                else:
                    self.imports = replace(self.imports, below={**self.imports.below, each.path: found})
            if problems:
                raise TemplateInvalid(problems)
        return self.imports

    def _unread_nested(self, connection: Connection) -> list[NestedImport]:
        """Return the nested stacks with imports that were not read yet. Raises TemplateInvalid."""
        completed, former = self._moved(connection)
        seeking, desired = NestedImportSearch(former), self.desired
        problems = check_below(self.components.services, connection, desired, completed, self.imports, seeking)
        transfers = desired.inputs.environment.transfers
        problems = list(dict.fromkeys([*seeking.problems, *problems]))
        if not problems:
            problems += seeking.unreached(transfers.imports_by_name(desired.definition.resources), desired)
        if problems:
            raise TemplateInvalid(problems)
        return list(seeking.found.values())

    def _inside(self, sought: NestedImport) -> StackContext:
        """Return a nested stack as the caller reads it."""
        recorded = sought.recorded
        stack = recorded.stack if recorded is not None else _hypothetical_stack(sought.around, sought.path)
        view = StackContext(self.components, stack, NoWriter())
        if recorded is not None:
            view.fill(recorded)
        view.scope.parent = sought.facade
        view.use(self.cloud)
        return view


def _collected(
    problems: list[Diagnostic], desired: DesiredState, completed: CompletedMoves, former: Transfers
) -> dict[str, Import]:
    """Return the imports of the stack itself that are not satisfied yet, and add the problems with them."""
    try:
        return pending_imports(desired, completed.tree.top.states.values(), former.imports)
    except TemplateInvalid as error:
        problems += error.diagnostics
        return {}


def _hypothetical_stack(around: Stack, path: Path) -> Stack:
    """Return a nested stack that does not exist yet."""
    return replace(around, id=new_id(), name=f"{around.name}-{path[-1]}", inputs="", parent_id=around.id)
