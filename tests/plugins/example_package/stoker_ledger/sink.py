"""A sink for the events of stacks: `event_sinks: [{type: ledger, account: <name or ID>}]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.cloud.session import Cloud
from stoker.plugins.event_sink import EventSink


class LedgerSink(EventSink):
    """Makes an entry of each event in an account."""

    def problems(self, entry: Mapping[str, Any]) -> Iterable[str]:
        if not isinstance(entry.get("account"), str):
            yield "account must be the name or ID of an account."
        if unknown := sorted(str(key) for key in entry.keys() - {"type", "account"}):
            yield f"unknown key {', '.join(unknown)}; the keys are type, account."

    async def send(self, cloud: Cloud, entry: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> None:
        account = await cloud.find("ledger.account", entry["account"])
        for message in messages:
            # The ID of a message lets the service recognize one that arrives twice.
            body = {"id": message["id"], "account": account, "kind": "event", "text": message["payload"]}
            await cloud.post("ledger", "/entries", {"entry": body})


EVENT_SINKS = {"ledger": LedgerSink()}
