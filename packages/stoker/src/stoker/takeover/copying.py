"""Copy the stacks of a Heat database, tree by tree. Each tree is one transaction, so that a copy can be repeated: the
former record of a tree that is copied again is removed in one before.

A tree that is recorded here as Heat has it is not written again. One that Heat has changed since is copied again,
unless it was also changed here: then it is kept as it is here, and reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sqlalchemy import Connection, select

from stoker.base.errors import StokerError
from stoker.engine.records.services import RecordingServices
from stoker.store import purging, tables
from stoker.store.journal import Batch
from stoker.store.ownership import Holder, holder_of, holders
from stoker.store.records import SoftwareConfig, SoftwareDeployment
from stoker.takeover.decoding import Decoder
from stoker.takeover.heat import HeatDatabase, HeatStack, Row, parsed, seconds
from stoker.takeover.mapped import MappedTree, claims_of
from stoker.takeover.mapping import Mapper
from stoker.takeover.recorded import RecordedTree, recorded_trees
from stoker.takeover.writing import TreeWriter

PAGE = 40
"""Number of trees that are read, mapped and written together."""


class CopyOutcome(Enum):
    """The outcome for a tree of stacks."""

    COPY = "copy"
    AGAIN = "copy again"
    PRESENT = "present"
    CHANGED_HERE = "changed here"
    IMPOSSIBLE = "impossible"


@dataclass(slots=True)
class TreeReport:
    """The outcome for one tree: `why` explains what is not copied, `notes` what the operator should know."""

    id: str
    name: str
    project: str
    state: str
    stacks: int
    resources: int
    fate: CopyOutcome
    why: str = ""
    notes: list[str] = field(default_factory=list)
    types: dict[str, int] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "id": self.id, "name": self.name, "project_id": self.project, "status": self.state, "stacks": self.stacks,
            "resources": self.resources, "fate": self.fate.value, "reason": self.why, "notes": self.notes,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What is recorded here: trees by the IDs of their roots, and the IDs of stacks by project and name."""

    trees: dict[str, RecordedTree]
    names: dict[tuple[str, str], str]


class Copier:
    """Copies trees of stacks; if `write` is false, it only determines the outcome."""

    def __init__(
        self, services: RecordingServices, heat: HeatDatabase, decoder: Decoder, *, project: str | None, write: bool
    ) -> None:
        self._services = services
        self._heat = heat
        now = services.clock.now()
        self._mapper = Mapper(services, decoder, now)
        self._writer = TreeWriter(services, decoder, now)
        self._project = project
        self._write = write

    async def trees(self, report: Callable[[TreeReport], None]) -> None:
        """Copy all trees; `report` is called with each. Raises errors of either database."""
        with self._heat.connect() as connection:
            roots = await asyncio.to_thread(self._heat.roots, connection, self._project)
            for page in _pages(roots, PAGE):
                trees = await asyncio.to_thread(self._heat.trees, connection, page, events=self._write)
                recorded = await self._services.database.read(_recorded, trees)
                for tree, outcome in zip(trees, await self._page(trees, recorded), strict=True):
                    report(_about(tree, *outcome))

    async def _page(
        self, trees: Sequence[HeatStack], recorded: _Recorded
    ) -> list[tuple[CopyOutcome, str, MappedTree | None]]:
        outcomes: list[tuple[CopyOutcome, str, MappedTree | None]] = []
        writes = []
        owners: dict[str, HeatStack] = {}
        for tree in trees:
            fate, why, mapped = await self._without_owned_objects(*self._outcome(tree, recorded))
            if mapped is not None and (why := _claimed_before(tree, mapped, owners)):
                fate, mapped = CopyOutcome.IMPOSSIBLE, None
            outcomes.append((fate, why, mapped))
            if mapped is not None and self._write and fate in (CopyOutcome.COPY, CopyOutcome.AGAIN):
                writes.append(self._record(tree, mapped, fate))
        ended = await asyncio.gather(*writes, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException):
                raise error
        return outcomes

    async def _without_owned_objects(
        self, fate: CopyOutcome, why: str, mapped: MappedTree | None
    ) -> tuple[CopyOutcome, str, MappedTree | None]:
        """Return the fate of a tree; it cannot be copied if resources of other stacks here have objects of it."""
        if mapped is None:
            return fate, why, mapped
        claims, inside = claims_of(mapped).values(), {mapped_stack.stack.id for mapped_stack in mapped.stacks}
        holders = await self._services.database.read(_holders, [claim.physical_id for claim in claims])
        known = [holder for holder in holders if holder.stack_id not in inside]
        for claim in claims:
            if (holder := holder_of(claim, known)) is not None:
                owner = f"the resource {holder.name} of the stack {holder.stack} ({holder.stack_id})"
                return CopyOutcome.IMPOSSIBLE, f"{claim.physical_id} belongs to {owner}", None
        return fate, why, mapped

    async def _record(self, tree: HeatStack, mapped: MappedTree, fate: CopyOutcome) -> None:
        if fate is CopyOutcome.AGAIN:
            await self._services.journal.commit(_removal(tree))
        await self._services.journal.commit(self._writer.batch(mapped))

    def _outcome(self, tree: HeatStack, recorded: _Recorded) -> tuple[CopyOutcome, str, MappedTree | None]:
        here = recorded.trees.get(tree.id)
        if here is not None and here.digest == self._mapper.digest(tree):
            return CopyOutcome.PRESENT, "", None
        if here is not None and here.changed:
            return CopyOutcome.CHANGED_HERE, "it was changed here after it was taken over, and in Heat too", None
        name = (tree.row["tenant"], tree.row["name"])
        if recorded.names.get(name, tree.id) != tree.id:
            return CopyOutcome.IMPOSSIBLE, f"the project has another stack {tree.row['name']} here", None
        try:
            mapped = self._mapper.tree(tree)
        except StokerError as error:
            return CopyOutcome.IMPOSSIBLE, error.message, None
        return (CopyOutcome.COPY if here is None else CopyOutcome.AGAIN), "", mapped

    # -- software configurations ------------------------------------------------------------------------------

    async def software(self) -> tuple[int, int]:
        """Copy the software configurations and deployments that are not here; return how many there are in Heat."""
        with self._heat.connect() as connection:
            configs = await self._rows(connection, "software_config", tables.software_configs, self._config)
            deployed = await self._rows(connection, "software_deployment", tables.software_deployments, self._deployed)
        return configs, deployed

    async def _rows(self, connection: Connection, name: str, table: Any, record_of: Callable[[Row], Any]) -> int:
        total = 0
        pages = self._heat.software(connection, name, self._project)
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            total += len(page)
            ids = [row["id"] for row in page]
            query = select(table.c.id).where(table.c.id.in_(ids))
            present = set(await self._services.database.read(lambda here, q=query: list(here.execute(q).scalars())))
            if self._write:
                await self._services.journal.commit(
                    Batch().add(*(record_of(row) for row in page if row["id"] not in present))
                )
        return total

    def _config(self, row: Row) -> SoftwareConfig:
        body = parsed(row["config"]) or {}
        return SoftwareConfig(
            id=row["id"],
            project_id=row["tenant"],
            name=row["name"] or "",
            group=row["group"] or "",
            body=self._services.sealer.seal(body),
            created_at=seconds(row["created_at"]) or 0.0,
        )

    def _deployed(self, row: Row) -> SoftwareDeployment:
        body = {"input_values": parsed(row["input_values"]) or {}, "output_values": parsed(row["output_values"]) or {}}
        return SoftwareDeployment(
            id=row["id"],
            project_id=row["tenant"],
            server_id=row["server_id"],
            config_id=row["config_id"],
            stack_user_project_id=row["stack_user_project_id"],
            action=row["action"],
            status=row["status"],
            status_reason=row["status_reason"],
            body=self._services.sealer.seal(body),
            created_at=seconds(row["created_at"]) or 0.0,
            updated_at=seconds(row["updated_at"]),
        )


def _holders(connection: Connection, physical_ids: Sequence[str]) -> list[Holder]:
    return list(holders(connection, physical_ids))


def _recorded(connection: Connection, trees: Sequence[HeatStack]) -> _Recorded:
    stacks = tables.stacks
    named = select(stacks.c.project_id, stacks.c.live_name, stacks.c.id).where(
        stacks.c.live_name.in_([tree.row["name"] for tree in trees])
    )
    return _Recorded(
        recorded_trees(connection, [tree.id for tree in trees]),
        {(row.project_id, row.live_name): row.id for row in connection.execute(named)},
    )


def _removal(tree: HeatStack) -> Batch:
    """Return the removal of what an earlier takeover has recorded of a tree."""

    def forget(connection: Connection) -> None:
        stacks, snapshots = tables.stacks, tables.snapshots
        stack_ids = list(connection.execute(select(stacks.c.id).where(stacks.c.root_id == tree.id)).scalars())
        query = select(snapshots.c.id).where(snapshots.c.stack_id.in_(stack_ids))
        snapshot_ids = connection.execute(query).scalars()  # copies belong to snapshots
        purging.forget_stacks(connection, [*stack_ids, *snapshot_ids])

    return Batch().then(forget)


def _claimed_before(tree: HeatStack, mapped: MappedTree, owners: dict[str, HeatStack]) -> str:
    """Return which object belongs to another tree of the same page; "" if there is none: the tree owns its objects now.

    `owners` are the trees by the keys of what they own.
    """
    claims = claims_of(mapped).values()
    for claim in claims:
        if (other := owners.get(claim.key)) is not None:
            return f"{claim.physical_id} belongs to a resource of the stack {other.row['name']} ({other.id})"
    owners.update((claim.key, tree) for claim in claims)
    return ""


def _about(tree: HeatStack, fate: CopyOutcome, why: str, mapped: MappedTree | None) -> TreeReport:
    types: dict[str, int] = {}
    for mapped_stack in mapped.stacks if mapped is not None else ():
        for state in mapped_stack.states.values():
            types[state.row.type] = types.get(state.row.type, 0) + 1
    stacks = list(tree.tree())
    return TreeReport(
        tree.id, tree.row["name"], tree.row["tenant"], f"{tree.row['action']}_{tree.row['status']}", len(stacks),
        sum(len(stack.resources) for stack in stacks), fate, why, mapped.notes if mapped is not None else [], types,
    )  # fmt: skip


def _pages(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
