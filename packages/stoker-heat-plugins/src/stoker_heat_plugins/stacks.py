"""The stack of a resource, as plug-ins see it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from stoker.plugins.resource import Call, Neighbour, StackFacts
from stoker_heat_plugins.credentials import Bridge, Context
from stoker_heat_plugins.names import MANUAL


class Stack:
    """The facts of a stack, its clients, and its other resources by name or reference ID."""

    def __init__(self, context: Context, facts: StackFacts | None, neighbours: Any, bridge: Bridge) -> None:
        self.context, self.clients = context, context.clients
        self.id, self.name = (facts.id, facts.name) if facts is not None else ("", "")
        self.tenant_id = context.tenant_id
        self.action, self.status = "", "IN_PROGRESS"
        self.t: Any = None
        self.stack_user_project_id = facts.user_project_id if facts is not None else None
        self.disable_rollback = facts.disable_rollback if facts is not None else True
        self.timeout_mins = facts.timeout_minutes if facts is not None else None
        self.created_time = datetime.fromtimestamp(facts.created_at, UTC) if facts is not None else None
        self._facts, self._neighbours, self._bridge = facts, neighbours, bridge

    @classmethod
    def of(cls, call: Call) -> Stack:
        """Return the stack of a call; to be called on the engine's event loop."""
        bridge = Bridge()
        stack = cls(Context(call.cloud, bridge), call.stack, call.engine.neighbours, bridge)
        stack.action = call.action
        return stack

    def identifier(self) -> dict[str, Any]:
        """Return the stack's place."""
        return {"tenant": self.tenant_id, "stack_name": self.name, "stack_id": self.id, "path": ""}

    def stack_name(self) -> str:
        """Return the stack's name."""
        return self.name

    def timeout_secs(self) -> int:
        """Return the seconds that an action may take."""
        return 60 * (self.timeout_mins or 60)

    def resource_by_refid(self, refid: str) -> object:
        """Return the resource with this reference ID; None when there is none."""
        if self._neighbours is None:
            return None
        return self._made(self._bridge.run(self._neighbours.by_reference(refid)))

    def __getitem__(self, name: str) -> object:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """Return the resource with this name."""
        if self._neighbours is None:
            return default
        found = self._made(self._bridge.run(self._neighbours.by_name(name)))
        return default if found is None else found

    def __contains__(self, name: object) -> bool:
        return self.get(str(name)) is not None

    def _made(self, neighbour: Neighbour | None) -> Any:
        from stoker_heat_plugins.neighbours import resource_of

        return None if neighbour is None else resource_of(neighbour, self)

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"stoker-heat-plugins does not offer `stack.{name}` to plug-ins (see {MANUAL})")
