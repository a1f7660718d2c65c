"""What services do not show for a moment: objects that they have just created, and the ends of lists."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote

import orjson

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import Request, Response
from stoker.testing.calls import READS, identity, lists
from stoker_foundation.clock import Clock

HIDDEN_SECONDS = 5.0
"""How long an object is missing from the answers after its creation."""


class _NotVisible(Fault):
    """A fault whose answer is that of a service that does not know an object."""

    def error(self) -> ApiError:
        return ApiError(404, "The resource could not be found.")


class Visibility:
    """The objects that reads do not show yet."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def hide(self, object_id: str) -> None:
        """Let reads not show an object for some seconds; requests that change it find it."""
        if object_id:
            self._until[object_id] = self._clock.now() + HIDDEN_SECONDS

    def fault(self, request: Request) -> Fault | None:
        """Return the refusal of a request that reads an object that is not shown; None for any other request."""
        if not self._until or request.method not in READS:
            return None
        parts = unquote(request.path).split("/")
        return _NotVisible(on="* *", do="fail") if any(identifier in parts for identifier in self._hidden()) else None

    def shown(self, request: Request, response: Response | None) -> Response | None:
        """Return the answer to a read, without the objects that are not shown."""
        hidden = self._hidden() if self._until and request.method == "GET" else []
        if not hidden:
            return response
        return _changed(response, lambda listed: [entry for entry in listed if identity(entry) not in hidden])

    def _hidden(self) -> list[str]:
        now = self._clock.now()
        return [identifier for identifier, until in self._until.items() if now < until]


def cut(response: Response | None) -> Response | None:
    """Return an answer whose lists lack their second halves; of a list with one object nothing is left."""
    return _changed(response, lambda listed: listed[: len(listed) // 2])


def _changed(response: Response | None, change: Callable[[list[object]], list[object]]) -> Response | None:
    """Return an answer whose lists of objects have been changed."""
    if response is None or response.status >= 300 or response.content_type != "application/json":
        return response
    answer = orjson.loads(response.payload())
    collections = lists(answer)
    if not collections:
        return response
    body = {**answer, **{key: change(listed) for key, listed in collections.items()}}
    return Response(body, response.status, response.headers)
