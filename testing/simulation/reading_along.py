"""Compare histories with and without readers: `python -m testing.simulation.reading_along SEED …`.

Nothing fails in these histories, so that the requests to the cloud follow from the user's requests only. With readers,
read-only requests arrive at every write of an engine and at every call that it makes. The calls that change the cloud
must be the same as without readers, and readers themselves must make none.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from openstack_emulator.core.http import Request, Response
from stoker.testing.determinism import make_deterministic
from testing.simulation.simulated_parts import LOOKS
from testing.simulation.simulated_readers import Readers
from testing.simulation.simulated_templates import FILES, Draft
from testing.simulation.simulated_user import ref
from testing.simulation.simulation import Simulation, fix_hashes, forked, prepared

TRIP = 0.02
"""Seconds that everything is on its way."""

AT_ONCE = 2
"""How many requests come with each write and each call."""

_SUFFIX = re.compile(r"(?<=-)[a-z0-9]{12}(?![a-z0-9])")
_IDENTIFIER = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{7,12}")
_RANDOM = frozenset({"password", "mac_address", "user_data", "expires_at"})
"""Fields of bodies that are generated each time."""


class FaultFreeSimulation(Simulation):
    """A history without a fault; `calls` are those that changed the cloud, in terms that every history shares."""

    def __init__(self, seed: int, path: Path, *, read: bool) -> None:
        super().__init__(seed, path)
        self.injector.latency = lambda: TRIP  # type: ignore[method-assign]
        self.injector.on_answer = self._record_call
        chance = random.Random(f"drafts {seed}")
        self.user.drafts = {name: Draft(chance, talkative=True) for name in self.user.NAMES}
        self.readers = Readers(self.cluster, self.user.drafts, seed)
        self._at_once = AT_ONCE if read else 0
        self.injector.after_write = lambda: self.readers.schedule(self._at_once)
        self._labels: dict[str, str] = {}
        self.calls: Counter[str] = Counter()

    async def _history(self) -> None:
        self.cloud.start()
        await self.cluster.start()
        for name in self.user.NAMES:
            await self.cluster.call("stack_create", **self._definition(name), name=name)
        await self._wait_until_idle()
        for _ in range(3):
            for name in self.user.NAMES:
                self.user.drafts[name].alter()
                await self.cluster.request("stack_update", **self._definition(name), ref=ref(name))
            await self._wait_until_idle()
        for action in ("check", "suspend", "resume"):
            for name in self.user.NAMES:
                await self.cluster.request("stack_action", ref=ref(name), action=action)
            await self._wait_until_idle()
        for name in self.user.NAMES:
            await self.cluster.call("stack_delete", ref=ref(name))
        await self._wait_until_idle()
        self.cluster.ended = True

    def _definition(self, name: str) -> dict[str, Any]:
        return {"template": self.user.drafts[name].template(), "files": FILES}

    def _record_call(self, sent: Request, response: Response | None, reading: bool) -> None:
        if sent.method in LOOKS:
            if not reading:
                self.readers.schedule(self._at_once)
            return
        if reading:
            self.injector.violate("different", f"a reader sends {sent.method} {sent.path}")
            return
        status = response.status if response is not None else None
        self.calls[self._shared(f"{sent.method} {sent.path} {_body(sent)} → {status}")] += 1
        for identifier, name in _named(response.body if response is not None else None):
            self._labels[identifier] = self._shared(name)
        self.readers.schedule(self._at_once)

    def _shared(self, text: str) -> str:
        """Return a string with names of objects in place of their IDs, and without the random ends of names."""
        labelled = _IDENTIFIER.sub(lambda match: f"<{self._labels.get(match[0], 'id')}>", text)
        return _SUFFIX.sub("~", labelled)


def _body(sent: Request) -> Any:
    try:
        return _without_random(orjson.loads(sent.body)) if sent.body else None
    except orjson.JSONDecodeError:
        return len(sent.body)


def _without_random(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_random(item) for key, item in sorted(value.items()) if key not in _RANDOM}
    return [_without_random(item) for item in value] if isinstance(value, list) else value


def _named(body: Any) -> Iterator[tuple[str, str]]:
    """Ids of an answer's objects, each with the object's name."""
    if isinstance(body, dict):
        if isinstance(body.get("id"), str) and isinstance(body.get("name"), str):
            yield body["id"], body["name"]
        for item in body.values():
            yield from _named(item)


def history(seed: int, path: Path, read: bool) -> dict[str, Any]:
    """What a history came to."""
    make_deterministic(seed)
    simulation = FaultFreeSimulation(seed, path, read=read)
    simulation.run()
    return {
        "calls": simulation.calls,
        "violations": simulation.injector.violations,
        "counts": simulation.injector.counts,
    }


def compared(seed: int, template: bytes) -> list[str]:
    """What is otherwise with readers than without."""
    without = forked(lambda path: history(seed, path, read=False), template)
    with_readers = forked(lambda path: history(seed, path, read=True), template)
    print(json.dumps({"seed": seed, "calls": sum(without["calls"].values()), "reads": with_readers["counts"]["reads"]}))
    found = [*without["violations"], *with_readers["violations"]]
    for sign, more, less in (("-", without, with_readers), ("+", with_readers, without)):
        difference = Counter(more["calls"]) - Counter(less["calls"])
        found += [f"{sign} {number} x {call}" for call, number in sorted(difference.items())]
    return found


def main() -> int:
    fix_hashes()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="+", type=int)
    options = parser.parse_args()
    logging.basicConfig(level=logging.CRITICAL)
    template = prepared()
    found = [line for seed in options.seeds for line in compared(seed, template)]
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
