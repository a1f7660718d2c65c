"""Operations that this process waits for, in whichever engine they run."""

from __future__ import annotations

from collections.abc import Callable, Collection


class Awaited:
    """The functions to call when operations finish. Used on one event loop."""

    def __init__(self) -> None:
        self._wakes: dict[str, dict[str, Callable[[], None]]] = {}

    def wait(self, operation_id: str, who: str, wake: Callable[[], None]) -> None:
        """Call `wake` when an operation finishes; `who` identifies the waiter, which is registered once."""
        self._wakes.setdefault(operation_id, {})[who] = wake

    def ended(self, operation_id: str) -> None:
        """Wake the waiters of a finished operation."""
        for wake in self._wakes.pop(operation_id, {}).values():
            wake()

    def besides(self, here: Collection[str]) -> list[str]:
        """Return the awaited operations that do not run here."""
        return [identifier for identifier in self._wakes if identifier not in here]
