"""What happens before and after operations on stacks."""

from __future__ import annotations

from stoker.plugins.lifecycle import LifecyclePlugin, OperationRefused, StackOperation

_BILLED = "Ledger::Account"


class Audit(LifecyclePlugin):
    """Refuses the deletion of stacks that are being audited, and enters operations on accounts in the books."""

    order = 50

    async def before(self, operation: StackOperation) -> None:
        if operation.action != "DELETE":
            return
        cloud = await operation.cloud()
        body = {"name": operation.stack_name, "status": "audited"}
        if await cloud.list("ledger", "/accounts", "accounts", body):
            raise OperationRefused(f"The stack {operation.stack_name} is being audited. Delete it after the audit.")

    async def after(self, operation: StackOperation, status: str) -> None:
        if operation.parent_id is None and any(step.type == _BILLED for step in operation.steps):
            cloud = await operation.cloud()
            text = f"{operation.action} {status} of {operation.stack_name}"
            # The operation's ID lets the service recognize an entry that is made twice.
            entry = {"id": operation.id, "kind": "operation", "text": text}
            await cloud.post("ledger", "/entries", {"entry": entry})


LIFECYCLE = {"ledger-audit": Audit()}
