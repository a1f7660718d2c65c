"""The base class of plug-ins that are called before and after every operation on a stack."""

from __future__ import annotations


class LifecyclePlugin:
    """Derive from this class, and register the class in the group `heat.stack_lifecycle_plugins`."""

    def do_pre_op(self, cnxt: object, stack: object, current_stack: object = None, action: str | None = None) -> None:
        """Called before the operation; an exception fails it."""

    def do_post_op(
        self,
        cnxt: object,
        stack: object,
        current_stack: object = None,
        action: str | None = None,
        is_stack_failure: bool = False,
    ) -> None:
        """Called after the operation; exceptions are logged."""

    def get_ordinal(self) -> int:
        """Return the place in the order: plug-ins with lower numbers are called first."""
        return 100
