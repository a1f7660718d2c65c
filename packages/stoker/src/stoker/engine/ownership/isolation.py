"""Operations that may have crashed engines: the suspects, which run in processes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Isolation(Protocol):
    """Starts engines in processes of their own for operations that may crash the engine which runs them."""

    def begin(self, root_id: str) -> None:
        """Start an engine for the suspects of a tree of stacks, unless one runs."""


@dataclass(frozen=True)
class IsolationSettings:
    """How an engine treats suspects. `isolation` starts engines for them, if there is a way to start them.

    An engine with a `trial`, the root of a tree of stacks, is one of these, and runs only the suspects of the tree.
    """

    isolation: Isolation | None = None
    trial: str | None = None
