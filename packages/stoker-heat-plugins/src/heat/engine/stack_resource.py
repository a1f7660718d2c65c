"""The place of `StackResource` before 2014."""

from heat.engine.resources.stack_resource import StackResource

__all__ = ["StackResource"]
