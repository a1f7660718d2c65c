"""What programs in servers would do: they send the signals for which resources wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import UserError
from stoker.resources.heat.signals.wait_condition import HANDLES
from stoker.testing.rehearsal.disrupted_sandbox import DisruptedSandbox, EngineDied
from stoker.testing.rehearsal.timings import seconds_of

CONDITIONS = frozenset({"OS::Heat::WaitCondition", "AWS::CloudFormation::WaitCondition"})
DEPLOYMENTS = frozenset({"OS::Heat::SoftwareDeployment", "OS::Heat::StructuredDeployment"})
UNSUPPORTED = frozenset({"OS::Heat::SwiftSignal"})
"""Types that wait for what no guest of a rehearsal sends."""
WAITING = CONDITIONS | DEPLOYMENTS
_DETAILS: Mapping[str, Mapping[str, object]] = {
    "AWS::CloudFormation::WaitConditionHandle": {"Status": "SUCCESS", "Reason": "", "Data": "", "UniqueId": "guest-{}"},
    **{kind: {"deploy_status_code": 0, "deploy_stdout": "", "deploy_stderr": ""} for kind in DEPLOYMENTS},
}
_TO_HANDLES = {"status": "SUCCESS", "reason": "", "data": "", "id": "guest-{}"}


class Guests:
    """The guests of all servers of a sandbox."""

    def __init__(self, sandbox: DisruptedSandbox) -> None:
        self.waited: set[tuple[str, str]] = set()
        """Stack and name of the wait conditions to which signals were sent."""
        self._sandbox = sandbox
        self._count = 0
        self._since: dict[tuple[str, str, str], float] = {}

    async def act(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Send a signal to each resource that waits, or whose wait condition does; `rows` are all resources."""
        listed = list(rows)
        waiting = [row for row in listed if row["status"] == "IN_PROGRESS" and row["type"] in WAITING]
        if self._sandbox.timings:
            waiting = [row for row in waiting if self._is_due(row)]
        conditions = [row for row in waiting if row["type"] in CONDITIONS]
        self.waited |= {(row["stack_id"], row["name"]) for row in conditions}
        stacks = {row["stack_id"] for row in conditions}
        handles = [row for row in listed if row["type"] in HANDLES and row["stack_id"] in stacks]
        deployments = [row for row in waiting if row["type"] in DEPLOYMENTS]
        self._count += 1
        for row in (*handles, *deployments):
            if row["physical_id"]:
                await self._send(row)

    def _is_due(self, row: Mapping[str, Any]) -> bool:
        """Return whether a resource has waited for its signals as long as it did in the stack that was recorded."""
        now = self._sandbox.clock.now()
        since = self._since.setdefault((row["stack_id"], row["name"], row["action"]), now)
        path = f"{self._sandbox.contents.prefixes().get(row['stack_id'], '')}{row['name']}"
        return now - since >= (seconds_of(self._sandbox.timings, path, row["action"]) or 0.0)

    async def _send(self, row: Mapping[str, Any]) -> None:
        details = _DETAILS.get(row["type"], _TO_HANDLES)
        filled = {key: value.format(self._count) if isinstance(value, str) else value for key, value in details.items()}
        owner = {"name": None, "id": row["stack_id"]}
        try:
            await self._sandbox.request("resource_signal", ref=owner, name=row["name"], details=filled)
        except (UserError, EngineDied):  # it is sent again
            return
