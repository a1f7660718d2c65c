"""Operations whose end somebody in this process waits for, wherever they run."""

from __future__ import annotations

from collections.abc import Callable, Collection


class Awaited:
    """Who is to be woken when which operation ends. Used on one event loop."""

    def __init__(self) -> None:
        self._wakes: dict[str, dict[str, Callable[[], None]]] = {}

    def wait(self, operation_id: str, who: str, wake: Callable[[], None]) -> None:
        """Call `wake` when an operation ends; `who` names who waits, once."""
        self._wakes.setdefault(operation_id, {})[who] = wake

    def ended(self, operation_id: str) -> None:
        """Wake who waits for an operation."""
        for wake in self._wakes.pop(operation_id, {}).values():
            wake()

    def besides(self, here: Collection[str]) -> list[str]:
        """The operations that are waited for, but for those that run here."""
        return [identifier for identifier in self._wakes if identifier not in here]
