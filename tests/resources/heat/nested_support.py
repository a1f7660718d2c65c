"""A nested stack in memory: records its parent's requests, and needs one more call to finish each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, ChildRequest, Member

CHILD_ID = "0c3f4b2e-child"


@dataclass
class ChildInMemory:
    """See plugins.resource.ChildStack. `asked` are the requests in order, each once; `failing` maps rounds to reasons.

    Members have the reference id `<name>-id`; `attributes` are theirs by `(member, key)`.
    """

    asked: list[tuple[str, ChildRequest]] = field(default_factory=list)
    failing: dict[int, str] = field(default_factory=dict)
    attributes: dict[tuple[str, AttributeKey], Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)
    failed_members: set[str] = field(default_factory=set)
    current: dict[str, Any] = field(default_factory=dict)
    made: bool = False
    _seen: set[tuple[str, int]] = field(default_factory=set)

    def next_action(self) -> None:
        """The parent's next action begins: its rounds are counted from zero."""
        self._seen.clear()
        self.asked.clear()

    async def run(self, action: str, request: ChildRequest) -> Outcome:
        """Finish a request at the second call."""
        finished = await self.outcome_of(action, request.round)
        if finished is not None:
            return finished
        self._seen.add((action, request.round))
        self.asked.append((action, request))
        if request.template is not None:
            resources = request.template.get("resources") or {}
            kept = {name: value for name, value in self.current.items() if name in resources}
            self.current = {**kept, **resources}
            self.made = True
        return InProgress(after=None, physical_id=CHILD_ID)

    async def outcome_of(self, action: str, round: int) -> Outcome | None:
        """The end of a request that was made."""
        if (action, round) not in self._seen:
            return None
        reason = self.failing.get(round)
        return Failed(reason) if reason else Done(physical_id=CHILD_ID)

    async def members(self) -> list[Member]:
        """Members in order of creation."""
        return [
            Member(
                name,
                entry["type"],
                "CREATE",
                "FAILED" if name in self.failed_members else "COMPLETE",
                f"{name}-id",
                f"{name}-id",
                float(index),
                entry.get("properties") or {},
            )
            for index, (name, entry) in enumerate(self.current.items())
        ]

    async def member_attribute(self, member: str, key: AttributeKey) -> Any:
        return self.attributes.get((member, key))

    async def outputs(self) -> Mapping[str, Any]:
        return self.shown

    async def template(self) -> Mapping[str, Any] | None:
        if not self.made:
            return None
        return {"heat_template_version": "2015-04-30", "resources": dict(self.current)}
