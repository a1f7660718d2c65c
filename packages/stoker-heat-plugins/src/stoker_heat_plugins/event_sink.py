"""An event sink of Stoker for a class of Heat's plug-in interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.cloud.session import Cloud
from stoker.plugins.event_sink import EventSink
from stoker_heat_plugins.credentials import Bridge, Context
from stoker_heat_plugins.stacks import Stack
from stoker_heat_plugins.workers import WORKERS


class HeatEventSink(EventSink):
    """Makes an object of `sink` with the entry of the environment, and calls its `consume` for each event."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    def problems(self, entry: Mapping[str, Any]) -> Iterable[str]:
        try:
            self._made(entry)
        except Exception as error:
            yield f"the entry cannot be used: {type(error).__name__}: {error}"

    async def send(self, cloud: Cloud, entry: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> None:
        bridge = Bridge()
        stack = Stack(Context(cloud, bridge), None, None, bridge)

        def send() -> None:
            sink = self._made(entry)
            for message in messages:
                payload = message.get("payload", {})
                stack.id, stack.name = str(payload.get("stack_id", "")), str(payload.get("stack_name", ""))
                sink.consume(stack, dict(message))

        await WORKERS.run(send)

    def _made(self, entry: Mapping[str, Any]) -> Any:
        return self._sink(**{name: value for name, value in entry.items() if name != "type"})
