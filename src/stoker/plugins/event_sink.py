"""The contract of event sinks: where the environment of a stack may have its events sent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.cloud.session import Cloud


class EventSink(ABC):
    """One kind of sink, by the `type` of an entry of `event_sinks`. An instance serves everybody and holds no state."""

    @abstractmethod
    def problems(self, entry: Mapping[str, Any]) -> Iterable[str]:
        """What is wrong with an entry of the environment, one sentence each; `type` has been looked at already."""

    @abstractmethod
    async def send(self, cloud: Cloud, entry: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> None:
        """Hand messages over, oldest first; the same ones may come again. Raises CloudError."""
