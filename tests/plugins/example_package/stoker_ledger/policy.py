"""Rules about which changes of accounts are allowed."""

from __future__ import annotations

from stoker.plugins.update_policy import ResourceChange, UpdatePolicy
from stoker.schema.unknown import is_unknown


class BudgetsOnlyGrow(UpdatePolicy):
    """Budgets are not reduced, and accounts are neither replaced nor deleted by an update."""

    def violation(self, change: ResourceChange) -> str | None:
        if change.type != "Ledger::Account" or change.operation == "ROLLBACK":
            return None
        if change.kind != "update":
            return "accounts must be kept for ten years"
        before, after = change.before.get("budget"), change.after.get("budget")
        if before is None or after is None or is_unknown(after) or after >= before:
            return None
        return f"the budget must not be reduced from {before} to {after}"


UPDATE_POLICIES = {"ledger-budgets": BudgetsOnlyGrow()}
