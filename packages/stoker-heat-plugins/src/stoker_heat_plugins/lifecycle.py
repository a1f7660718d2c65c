"""A lifecycle plug-in of Stoker for a class of Heat's plug-in interface."""

from __future__ import annotations

import copy
from typing import Any

from stoker.plugins.lifecycle import LifecyclePlugin, OperationRefused, StackOperation
from stoker_heat_plugins.credentials import Bridge, Context
from stoker_heat_plugins.stacks import Stack
from stoker_heat_plugins.workers import WORKERS


class HeatLifecyclePlugin(LifecyclePlugin):
    """Calls `do_pre_op` and `do_post_op` of an object of `plugin` on a thread."""

    seconds = 600.0

    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin()
        self.order = int(self._plugin.get_ordinal())  # type: ignore[misc]

    async def before(self, operation: StackOperation) -> None:
        stack = await _stack(operation)

        def call() -> None:
            try:
                self._plugin.do_pre_op(stack.context, stack, stack, operation.action)
            except Exception as error:
                raise OperationRefused(str(error) or type(error).__name__) from error

        await WORKERS.run(call)

    async def after(self, operation: StackOperation, status: str) -> None:
        stack = await _stack(operation)
        failed = status != "COMPLETE"
        stack.status = "FAILED" if failed else "COMPLETE"
        await WORKERS.run(lambda: self._plugin.do_post_op(stack.context, stack, stack, operation.action, failed))


async def _stack(operation: StackOperation) -> Stack:
    """Return the stack of an operation; its resources cannot be read."""
    bridge = Bridge()
    stack = Stack(Context(await operation.cloud(), bridge), None, None, bridge)
    stack.id, stack.name, stack.action = operation.stack_id, operation.stack_name, operation.action
    stack.t = copy.deepcopy(operation.template)
    return stack
