"""The contract of event sinks: destinations of a stack's events, which its environment configures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


class EventSink(ABC):
    """One kind of sink: the `type` of an entry in `event_sinks`. An instance is shared and must be stateless."""

    @abstractmethod
    def problems(self, entry: Mapping[str, object]) -> Iterable[str]:
        """Return what is wrong with an entry of the environment, one sentence per problem; `type` has been checked."""

    @abstractmethod
    async def send(self, cloud: Cloud, entry: Mapping[str, object], messages: Sequence[Mapping[str, object]]) -> None:
        """Send messages, oldest first; the same ones may be passed again. Raises CloudError."""
