"""Lose the response to each request by which an object is replaced that its service allows only once.

Run as a program: `python -m testing.simulation.lost_replacements [TYPE …]`, by default for all such types. Each set of
resources of `lost_answers.yaml` is created, its `thing` is marked unhealthy, and the stack is updated with the same
template. Otherwise like `lost_answers`, but without the name of a type, responses are lost for `TROUBLED` types only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from stoker.plugins.recovery import Recovery
from stoker.plugins.registry import Registry
from testing.simulation.cases import THING
from testing.simulation.lost_answers import FILES, REF, FaultTestbed, Loss, main

TROUBLED = ("OS::Cinder::VolumeAttachment", "OS::Neutron::ExtraRouteSet")
"""Types that delete in different ways; all others differ from one of them in the path only."""
LEFT_OUT = {
    "OS::Designate::Zone": "Its record sets would be lost: only zones that were never usable are deleted first.",
    "OS::Neutron::RouterInterface": "An interface with a given port keeps the port, see tests/engine.",
}


def exclusive() -> list[str]:
    """Every type of which an object can exclude its replacement, without those that translate another one."""
    kinds = Registry.from_entry_points().types
    return sorted(name for name, kind in kinds.items() if kind.exclusion is not None and not name.startswith("AWS::"))


def replaced_types() -> list[str]:
    """Return the types that the program runs by default."""
    return [name for name in exclusive() if name not in LEFT_OUT]


class Replacements(FaultTestbed):
    """Replaces what a testbed creates."""

    async def _case(self, properties: dict[str, Any], recovery: Recovery | None, problems: list[str]) -> list[str]:
        self.kind = properties["resources"][THING]["type"]
        return await super()._case(properties, recovery, problems)

    def _losses(self, number: int, recovery: Recovery | None, change: str) -> Iterable[Loss]:
        return tuple(Loss) if self.kind in (sys.argv[1:] or TROUBLED) else ()

    async def _begin(self, properties: dict[str, Any]) -> None:
        await super()._begin(properties)
        if THING in properties["resources"]:
            self.injector.watching = False
            await self._wait_until_idle()
            await self.engines.call("resource_mark_unhealthy", ref=REF, name=THING, mark_unhealthy=True)
            self.injector.asked, self.injector.watching = [], True
            await self.engines.call("stack_update", ref=REF, template=properties, files=FILES)


if __name__ == "__main__":
    main(*(sys.argv[1:] or replaced_types()), testbed=Replacements)
