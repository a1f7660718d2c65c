"""Answer 404 to requests for objects that exist, while each resource type is deleted, and count the objects at the end.

Run as a program: `python -m testing.simulation.hidden_objects [TYPE …]`, by default for all types. Each set of
resources of `lost_answers.yaml` is created, and deleted without failures. This is repeated for each change that its
deletion requests from the cloud, with a service that for a while says that there is nothing: like one whose policy
hides an object, or that has just been restarted. When the stack is deleted, no object may be left. One JSON line per
type is printed.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Any

from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import Request
from stoker.plugins.recovery import Recovery
from testing.simulation.cases import THING
from testing.simulation.lost_answers import FaultTestbed, SingleFaultInjector, main, without_names
from testing.simulation.simulated_parts import LOOKS

SECONDS = 45.0
"""How long objects are hidden."""
TRUSTS = ("keystone", "trusts")
"""What is removed after the end of an operation; if that is refused, after a later one."""
SMALL = {"heat_template_version": "2021-04-16", "resources": {THING: {"type": "OS::Neutron::Net"}}}
"""The template of operations after those of the case."""
MAY_FAIL = frozenset({"POST /workflow/v2/executions"})
"""Creations, of which a generic 404 can also mean that the service does not have the collection."""


class Hidden(StrEnum):
    """What is said not to exist."""

    CHANGE = "a change is answered with 404"
    OBJECT = "its object is hidden"
    SERVICE = "all of its service is hidden"


class HidingInjector(SingleFaultInjector):
    """Injects one fault: after one change of the deletion, the services deny the object for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = Hidden.CHANGE
        self.deleting = False
        self._path, self._until = "", 0.0

    def begin(self, victim: int, hidden: Hidden) -> None:
        """Hide what the change with this number concerns; -1 hides nothing."""
        self.asked, self.deleting, self.victim, self.hidden, self._path = [], True, victim, hidden, ""

    def fault(self, request: Request) -> Fault | None:
        if not self.deleting or request.path.endswith("/auth/tokens"):
            return None
        generic = Fault(on="* *", do="fail", status=404, message="The resource could not be found.")
        if self._path and request.path.startswith(self._path) and self.now() < self._until:
            return generic
        if request.method in LOOKS:
            return None
        self.asked.append(f"{request.method} {request.path}")
        if len(self.asked) - 1 != self.victim:
            return None
        if self.hidden is not Hidden.CHANGE:
            root = "/".join(request.path.split("/")[:2]) + "/"
            self._path = request.path if self.hidden is Hidden.OBJECT else root
            self._until = self.now() + SECONDS
        return generic


class HidingTestbed(FaultTestbed):
    """Deletes what a testbed creates."""

    injector_class = HidingInjector

    @property
    def hiding(self) -> HidingInjector:
        assert isinstance(self.injector, HidingInjector)
        return self.injector

    async def _case(self, properties: dict[str, Any], recovery: Recovery | None, problems: list[str]) -> list[str]:
        self.outliving = self.outliving | {TRUSTS}
        before = self._trusts()
        changes = await self._hidden(properties, -1, Hidden.CHANGE, problems)
        for number, change in enumerate(changes):
            for hidden in Hidden:
                key = (None, f"{hidden} {without_names(change)}")
                if key not in self.seen:
                    self.seen.add(key)
                    await self._hidden(properties, number, hidden, problems)
        if self._trusts() - before:
            await self._hidden(SMALL, -1, Hidden.CHANGE, problems)
        problems += [f"trust {trust} left" for trust in self._trusts() - before]
        return changes

    async def _hidden(self, properties: dict[str, Any], victim: int, hidden: Hidden, problems: list[str]) -> list[str]:
        """Create and delete a stack while something is hidden; return the changes that its deletion asked for."""
        hiding = self.hiding
        hiding.deleting = False
        usual = await self._make(properties)
        if usual["state"].split()[1] != "COMPLETE":
            problems.append(f"not created: {usual['state']}")
        hiding.begin(victim, hidden)
        left = await self._deleted(hiding)
        hiding.deleting = False
        problems += [f"{hiding.asked[victim]}, {hidden}: {text}" if victim >= 0 else text for text in left]
        return list(hiding.asked)

    async def _deleted(self, hiding: HidingInjector) -> list[str]:
        """Delete the stack, and once more after a failure; return what is left, and failures that should not be."""
        try:
            return await self._delete()
        except AssertionError as failure:
            hiding.deleting = False
            refused = hiding.asked[hiding.victim]
            reported = [] if without_names(refused) in MAY_FAIL else [str(failure)]
            return reported + await self._delete()

    def _trusts(self) -> set[str]:
        return {record.id for record in self.cloud.store.tables[TRUSTS]}


if __name__ == "__main__":
    main(*sys.argv[1:], testbed=HidingTestbed)
