"""Calling the lifecycle plug-ins of one run of an operation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from stoker.engine.planning.kinds import StepKind
from stoker.engine.running.operation_context import OperationContext
from stoker.plugins.lifecycle import LifecyclePlugin, OperationRefused, PlannedStep, StackOperation

LOG = logging.getLogger(__name__)

Named = tuple[str, LifecyclePlugin]


@dataclass(slots=True)
class Lifecycle:
    """`plugins` are in the order in which `before` is called."""

    plugins: Sequence[Named]
    _begun: list[Named] = field(default_factory=list)
    _about: StackOperation | None = None

    async def before(self, run: OperationContext) -> None:
        """Call every plug-in. Raises OperationRefused when one refuses the operation, fails or takes too long."""
        self._about = about = _described(run)
        for name, plugin in self.plugins:
            try:
                async with asyncio.timeout(plugin.seconds):
                    await plugin.before(about)
            except OperationRefused as refusal:
                raise OperationRefused(f"The plug-in {name} refuses the operation: {refusal.message}") from refusal
            except TimeoutError as error:
                raise OperationRefused(
                    f"The plug-in {name} has not answered within {plugin.seconds:g} seconds; ask the operator of the "
                    "service."
                ) from error
            except Exception as error:
                LOG.exception("plug-in %s failed before operation %s of stack %s", name, about.id, about.stack_name)
                raise OperationRefused(
                    f"The plug-in {name} failed with {type(error).__name__}; ask the operator of the service."
                ) from error
            self._begun.append((name, plugin))

    async def after(self, status: str) -> None:
        """Call the plug-ins whose `before` has returned, in reverse; what they raise is logged."""
        while self._begun and self._about is not None:
            name, plugin = self._begun.pop()
            try:
                async with asyncio.timeout(plugin.seconds):
                    await plugin.after(self._about, status)
            except Exception:
                LOG.exception("plug-in %s failed after operation %s (%s)", name, self._about.id, status)
        self._about = None


def _described(run: OperationContext) -> StackOperation:
    operation, stack = run.operation, run.stack
    return StackOperation(
        id=operation.id,
        action=operation.action,
        stack_id=stack.id,
        stack_name=stack.name,
        project_id=stack.project_id,
        root_id=stack.root_id,
        parent_id=stack.parent_id,
        template=run.inputs.template.data if run.inputs is not None else None,
        steps=tuple(
            PlannedStep(step.name, step.type, step.kind.value, tuple(change.name for change in step.changes))
            for step in (run.planning.plan.steps if run.planning.plan is not None else ())
            if step.kind is not StepKind.KEEP
        ),
        cloud=run.cloud,
        resumed=operation.epoch > 1,
    )
