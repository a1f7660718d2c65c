"""Asking the operator's update policies whether a decision on a resource may be carried out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from stoker.engine.planning.decide import Target
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Decision
from stoker.engine.planning.reasons import Reason, ReasonCode
from stoker.engine.records.differences import PropertyChange
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins.update_policy import ResourceChange, UpdatePolicy
from stoker.store.records import Stack

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies, in the order in which they are asked, and the operation that they are asked about."""

    named: Sequence[tuple[str, UpdatePolicy]]
    operation: str
    stack: Stack

    @classmethod
    def of(cls, services: EngineServices, stack: Stack, operation: str) -> Policies:
        """The policies for an operation on a stack; `operation` is its action."""
        return cls(services.registry.update_policies(), operation, stack)

    def judged(self, decision: Decision, target: Target, state: ResourceState | None) -> Decision:
        """The decision, or the refusal to carry it out, with the policies' objections as reasons."""
        if state is None or decision.kind not in (Kind.UPDATE, Kind.REPLACE):
            return decision
        reasons = self._objections(decision.kind, state, target.type_name, decision.changes)
        return replace(decision, kind=Kind.REFUSE, reasons=reasons) if reasons else decision

    def removal_objections(self, state: ResourceState) -> tuple[Reason, ...]:
        """The objections to the deletion of a resource that is no longer in the template."""
        return self._objections(Kind.DELETE, state, state.row.type, ())

    def _objections(
        self, kind: Kind, state: ResourceState, type_name: str, changes: Iterable[PropertyChange]
    ) -> tuple[Reason, ...]:
        if not self.named:
            return ()
        change = ResourceChange(
            operation=self.operation,
            stack_id=self.stack.id,
            stack_name=self.stack.name,
            project_id=self.stack.project_id,
            name=state.row.name,
            type=type_name,
            physical_id=state.row.physical_id,
            kind=kind.value,  # type: ignore[arg-type]  # one of the three
            before={change.name: change.before for change in changes},
            after={change.name: change.after for change in changes},
        )
        return tuple(
            Reason(ReasonCode.POLICY, name, objection)
            for name, policy in self.named
            if (objection := _asked(name, policy.objection, change)) is not None
        )


def _asked(name: str, objection: Callable[[ResourceChange], str | None], change: ResourceChange) -> str | None:
    """A policy's objection; one that fails has an objection, since it has not agreed."""
    try:
        return objection(change)
    except Exception as error:
        LOG.exception("update policy %s failed on resource %s of stack %s", name, change.name, change.stack_name)
        return f"the policy failed with {type(error).__name__}; ask the operator of the service"


def forbidden(decision: Decision) -> bool:
    """Whether a policy is why a change is refused."""
    return decision.kind is Kind.REFUSE and any(reason.code is ReasonCode.POLICY for reason in decision.reasons)
