"""Abandon and adopt a stack with each resource type, and compare the objects before and after.

Run as a program: `python -m testing.simulation.adopted_objects [TYPE …]`, by default for all types. Each set of
resources of `lost_answers.yaml` is created, abandoned, and adopted from its document. The resources must have the same
objects, an update with the same template must change nothing, and when the stack is deleted, no object may be left.
Exceptions are in `docs/explanation/known-flaws.md`, besides types that each update changes. One JSON line per type is
printed with the changes that the adoption requested.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.plugins.recovery import Recovery
from testing.simulation.cases import THING
from testing.simulation.lost_answers import FILES, REF, FaultTestbed, main

RECORDED_AGAIN = frozenset(
    f"OS::Heat::{kind}Deployment{form}" for kind in ("Software", "Structured") for form in ("", "s", "Group")
)
"""Types whose deployments get other IDs."""
KEEPING_CONTAINERS = frozenset({"OS::Heat::SoftwareDeployment", "OS::Heat::SwiftSignalHandle"})
"""Types whose containers, named after the abandoned stack, are left."""
CONTAINERS = frozenset({("swift", "containers"), ("swift", "objects")})


class Adoption(FaultTestbed):
    """Abandons and adopts what a testbed creates."""

    async def _case(self, properties: dict[str, Any], recovery: Recovery | None, problems: list[str]) -> list[str]:
        name = properties["resources"][THING]["type"]
        if name in KEEPING_CONTAINERS:
            self.outliving = self.outliving | CONTAINERS
        for member in self.engines.members:
            member.engine.services.settings = replace(member.engine.services.settings, enable_stack_adopt=True)
        await self._make(properties)
        before = await self._objects()
        document = await self.engines.call("stack_abandon", ref=REF)
        await self._wait_until_idle()
        self.injector.asked = []
        adopted = {"template": None, "files": FILES, "adopt_stack_data": document}
        await self.engines.call("stack_create", name=REF["name"], **adopted)
        await self._wait_until_idle()
        changes = list(self.injector.asked)
        if name not in RECORDED_AGAIN:
            problems += await self._different(before)
        problems += [*await self._planned(properties), *await self._delete()]
        return changes

    async def _objects(self) -> dict[str, Any]:
        """Return the objects by the names of their resources; nested stacks are adopted as other stacks."""
        found = await self.engines.call("resource_list", ref=REF, nested_depth=4)
        place = {key: stack["parent_resource"] for key, stack in found["stacks"].items()}
        return {
            f"{place[row['stack_id']]}.{row['name']}": row["physical_id"]
            for row in found["resources"]
            if row["name"] not in place.values()
        }

    async def _different(self, before: Mapping[str, Any]) -> list[str]:
        shown, after = await self.engines.call("stack_show", ref=REF), await self._objects()
        failed = (shown["action"], shown["status"]) != ("ADOPT", "COMPLETE")
        return [f"{shown['action']} {shown['status']} {shown['status_reason']}"] * failed + [
            f"{name} had {before.get(name)}, and has {after.get(name)}"
            for name in before.keys() | after.keys()
            if before.get(name) != after.get(name)
        ]

    async def _planned(self, properties: Mapping[str, Any]) -> list[str]:
        """Return what an update with the same template would change, except what every update changes."""
        kind = self.engines.registry.types[properties["resources"][THING]["type"]]
        if kind.updates_with_parent is True or kind.replaced_with_parent is True:
            return []
        asked = {"template": properties, "files": FILES, "refresh": "none"}  # see known-flaws.md: comparisons after it
        preview = await self.engines.call("stack_update_preview", ref=REF, **asked)
        changes = preview["resource_changes"]
        return [
            f"{kind} {row.get('resource_name')}"
            for kind, rows in changes.items()
            if kind != "unchanged"
            for row in rows
        ]


if __name__ == "__main__":
    main(*sys.argv[1:], testbed=Adoption)
