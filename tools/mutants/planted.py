"""The bugs: small changes of single places, each of which breaks something that the manual promises."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path("packages/stoker/src/stoker")
"""Where the files are that bugs change."""


class Outdated(Exception):
    """The place that a bug changes is not, or not only once, in the sources any more."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: in the file `path` of the package stoker, `old` becomes `new`.

    `expected_in` is the suite that notices it soonest, for the simulation with the `seed` that does.
    """

    name: str
    path: str
    old: str
    new: str
    expected_in: str = "simulation"
    seed: str = ""

    def changed(self, sources: Path) -> str:
        """Return the content of the file with the bug. Raises Outdated if `old` is not there exactly once."""
        file = sources / PACKAGE / self.path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if (times := text.count(self.old)) != 1:
            raise Outdated(
                f"{self.name}: what it changes is {times} times in {self.path}; update tools/mutants/planted.py"
            )
        return text.replace(self.old, self.new)

    @contextmanager
    def planted(self, sources: Path) -> Iterator[None]:
        """Change the file below `sources`, and restore it afterwards, with its time. Raises Outdated."""
        file = sources / PACKAGE / self.path
        text, times = file.read_bytes(), file.stat()
        file.write_text(self.changed(sources), encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(text)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


MUTANTS = (
    Mutant(
        "an object belongs to two resources",
        "store/ownership.py",
        "            if row.uuid != each.uuid and row.type != each.whole:",
        "            if row.uuid != each.uuid and row.type == each.whole:",
        expected_in="store",
    ),
    Mutant(
        "a late object is left",
        "engine/running/lost_claims.py",
        "    LOST.set(never)\n",
        "    LOST.set(never)\n    return\n",
        seed="16",
    ),
    Mutant(
        "nobody looks for what a dead engine's request creates late",
        "engine/running/interrupted_creations.py",
        '            if row.physical_id is None and row.action == "CREATE" and has_own_name(state, call):\n',
        "            if False:\n",
        seed="12",
    ),
    Mutant(
        "a late object stays when its resource is deleted",
        "engine/running/removal.py",
        "        if state.row.uuid in run.objects.late and ",
        "        if not run.objects.late and ",
        expected_in="engine",
    ),
    Mutant(
        "operations without a run are not released",
        "engine/ownership/membership.py",
        "        if unattended:\n",
        "        if unattended and not held:\n",
        seed="3",
    ),
    Mutant(
        "a finished deletion has no event",
        "engine/running/removal.py",
        "            batch.remove(state.row).add(*run.events_for(state, reason))",
        "            batch.remove(state.row)",
        seed="16",
    ),
    Mutant(
        "the end of an operation has no event",
        "store/claims.py",
        "(events, [row for end in ends if end.is_current for row in end.events]),",
        "(events, []),",
        seed="3",
    ),
    Mutant(
        "a run writes deployments without its claim",
        "engine/calls/building.py",
        "deployments=StoredDeployments(services, project_id, run.writer, partial(wake, components.runs)),",
        "deployments=StoredDeployments(services, project_id, services.journal, partial(wake, components.runs)),",
        seed="8",
    ),
    Mutant(
        "a lost claim does not prevent a write",
        "store/journal.py",
        "            remaining = [batch for batch in group if batch.claim is None or batch.claim not in fenced]",
        "            remaining = group",
        seed="16",
    ),
    Mutant(
        "the object of a lost response is not looked for",
        "engine/running/steps.py",
        '        state.stored.uncertain = state.row.action == "CREATE" and state.row.physical_id is None\n',
        "        state.stored.uncertain = False\n",
        seed="45",
    ),
    Mutant(
        "the cloud is changed without a lease",
        "engine/ownership/runs.py",
        "        while self.is_expired:\n            await self.next_renewal()\n        if LOST",
        "        if LOST",
        seed="16",
    ),
    Mutant(
        "a takeover does not raise the epoch",
        "store/claims.py",
        '        "epoch": operation.epoch + 1,\n        "status": RUNNING,',
        '        "epoch": operation.epoch,\n        "status": RUNNING,',
        seed="16",
    ),
    Mutant(
        "operations of living engines are taken over",
        "store/claims.py",
        "operation.owner != claimant.engine_id and operation.owner not in alive",
        "operation.owner != claimant.engine_id",
        expected_in="engine",
    ),
    Mutant(
        "an offered operation begins while another one runs on its stack",
        "store/offered.py",
        "_offered(), is_current, ~is_busy)",
        "_offered(), is_current)",
        expected_in="store",
    ),
    Mutant(
        "an offer is claimed for a stack that a newer operation decides about",
        "store/offered.py",
        "_offered(), is_current, ~is_busy)",
        "_offered(), ~is_busy)",
        expected_in="store",
    ),
    Mutant(
        "an interrupted deletion is not finished",
        "engine/running/removal.py",
        "        if not self._is_begun(state):\n",
        "        if self._is_begun(state):\n            await self._end([(state, reason)], Batch())\n"
        "            return\n        else:\n",
        expected_in="engine",
    ),
    Mutant(
        "operations that only wait are charged with deaths",
        "store/deaths.py",
        "waiting=row.waiting_epoch == row.epoch,",
        "waiting=False,",
        expected_in="store",
    ),
    Mutant(
        "an engine that was asked to stop counts as dead",
        "store/deaths.py",
        "engines.c.leaving_at.is_(None),",
        "engines.c.id.is_not(None),",
        expected_in="store",
    ),
    Mutant(
        "heartbeats wait for takeovers",
        "engine/ownership/membership.py",
        "        self.takeovers.begin()\n",
        "        self.takeovers.begin()\n        await self.takeovers.complete()\n",
        expected_in="engine",
    ),
)
"""At least a dozen; those of the first four kinds were once unnoticed."""
