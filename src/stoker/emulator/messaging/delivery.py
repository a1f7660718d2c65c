"""Messages on their way to subscribers that are web hooks."""

from __future__ import annotations

import json
import logging
import queue
import threading
import urllib.request
from collections.abc import Mapping
from typing import Any

_log = logging.getLogger(__name__)

SECONDS = 10.0
PLACEHOLDER = "$zaqar_message$"
"""Stands for the message in `post_data`."""


class Deliveries:
    """Posts messages one after the other, on a thread of its own that is there from the first one on."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[urllib.request.Request] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def send(self, subscription: Mapping[str, Any], queue_name: str, message: Mapping[str, Any]) -> None:
        """Post a message to a subscriber soon. There is no second attempt."""
        options = subscription["options"]
        content = {
            "body": message["body"],
            "ttl": message["ttl"],
            "queue_name": queue_name,
            "Message_Type": "Notification",
        }
        form = options.get("post_data")
        data = json.dumps(content) if form is None else str(form).replace(f'"{PLACEHOLDER}"', json.dumps(content))
        headers = {"Content-Type": "application/json", **options.get("post_headers", {})}
        address = str(subscription["subscriber"])
        self._waiting.put(urllib.request.Request(address, data.encode(), headers, method="POST"))  # noqa: S310  http(s) only
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="zaqar-deliveries", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            request = self._waiting.get()
            try:
                with urllib.request.urlopen(request, timeout=SECONDS):  # noqa: S310
                    pass
            except OSError as error:
                _log.warning("The subscriber %s did not take a message: %s", request.full_url, error)
