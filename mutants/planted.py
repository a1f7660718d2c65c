"""The bugs: small changes of single places, each of which breaks something that the manual promises."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class Outdated(Exception):
    """The place that a bug changes is not, or not only once, in the sources any more."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: in the file `path` below src/stoker, `old` becomes `new`."""

    name: str
    path: str
    old: str
    new: str

    def plant(self, sources: Path) -> None:
        """Change the file below `sources`. Raises Outdated if `old` is not there exactly once."""
        file = sources / "stoker" / self.path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if (times := text.count(self.old)) != 1:
            raise Outdated(f"{self.name}: what it changes is {times} times in {self.path}; update mutants/planted.py")
        file.write_text(text.replace(self.old, self.new), encoding="utf-8")


MUTANTS = (
    Mutant(
        "an object belongs to two resources",
        "store/ownership.py",
        "            if row.uuid != ownership.uuid and row.type != ownership.whole:",
        "            if row.uuid != ownership.uuid and row.type == ownership.whole:",
    ),
    Mutant(
        "a late object is left",
        "engine/running/lost_claims.py",
        "    LOST.set(never)\n",
        "    LOST.set(never)\n    return\n",
    ),
    Mutant(
        "operations without a run are not released",
        "engine/ownership/membership.py",
        "        if unattended:\n",
        "        if unattended and not held:\n",
    ),
    Mutant(
        "a finished deletion has no event",
        "engine/running/steps.py",
        "        await run.commit(Batch().remove(row).add(*run.events_for(state)))",
        "        await run.commit(Batch().remove(row))",
    ),
    Mutant(
        "the end of an operation has no event",
        "engine/core.py",
        "                queries.add_events(connection, events)\n",
        "                queries.add_events(connection, events[:0])\n",
    ),
    Mutant(
        "a run writes deployments without its claim",
        "engine/calls/building.py",
        "deployments=StoredDeployments(engine, project_id, run.writer, partial(wake, engine)),",
        "deployments=StoredDeployments(engine, project_id, engine.journal, partial(wake, engine)),",
    ),
    Mutant(
        "a lost claim does not prevent a write",
        "store/journal.py",
        "            kept = [batch for batch in group if batch.claim is None or batch.claim not in fenced]",
        "            kept = group",
    ),
    Mutant(
        "the object of a lost response is not looked for",
        "engine/running/steps.py",
        '        state.stored.uncertain = state.row.action == "CREATE" and state.row.physical_id is None\n',
        "        state.stored.uncertain = False\n",
    ),
    Mutant(
        "the cloud is changed without a lease",
        "engine/ownership/membership.py",
        "        while self.lapsed:\n            await self.next_beat()\n        if LOST",
        "        if LOST",
    ),
    Mutant(
        "a takeover does not raise the epoch",
        "store/claims.py",
        '        "epoch": operation.epoch + 1,\n        "status": RUNNING,',
        '        "epoch": operation.epoch,\n        "status": RUNNING,',
    ),
    Mutant(
        "operations of living engines are taken over",
        "store/claims.py",
        "operation.owner != claimant.engine_id and operation.owner not in alive",
        "operation.owner != claimant.engine_id",
    ),
    Mutant(
        "an interrupted deletion keeps the record's physical ID to itself",
        "engine/running/steps.py",
        "        method = PARTINGS[state.stored.definition[EFFECT]](state.type)\n",
        "        method = None if begun_before else PARTINGS[state.stored.definition[EFFECT]](state.type)\n",
    ),
    Mutant(
        "operations that only wait are charged with deaths",
        "store/deaths.py",
        "waiting=row.waiting_epoch == row.epoch,",
        "waiting=False,",
    ),
    Mutant(
        "an engine that was asked to stop counts as dead",
        "store/deaths.py",
        "and_(engines.c.stopped_at.is_(None), engines.c.leaving_at.is_(None))",
        "and_(engines.c.stopped_at.is_(None), engines.c.id.is_not(None))",
    ),
    Mutant(
        "heartbeats wait for takeovers",
        "engine/ownership/membership.py",
        "        self.takeovers.begin()\n",
        "        self.takeovers.begin()\n        await self.takeovers.complete()\n",
    ),
)
"""At least a dozen; those of the first four kinds were once unnoticed."""
