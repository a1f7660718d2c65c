"""Outages of the service, such as its restart: requests that only read are repeated until it answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from typing import TYPE_CHECKING, TypeVar

from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say

if TYPE_CHECKING:
    from requests import Response

Report = Callable[[str | None], None]
"""Shows the user what is waited for; None as soon as the service answers."""
Answered = TypeVar("Answered", bound="Response")

LONGEST_SECONDS = 300.0
"""How long a service may be away before a command gives up; documented in docs/how-to/terminal.md."""
_PAUSES = (1, 2, 4, 8, 15)
"""Seconds before each further attempt; the last pause is repeated."""
_AWAY = (502, 503, 504)
"""Statuses of a proxy, or of an API process without engines, that a later request may not see (RFC 9110, 15.6)."""

ANSWERS_AGAIN = "The service answers again."


class NotAnswering(CommandFailed):
    """The service has not answered for `LONGEST_SECONDS`."""


class Outages:
    """Repeats requests of one command that only read.

    The first request of a command is never repeated: a service that does not run, or a mistake in its address, is
    reported immediately. What is waited for is shown in the error output, or as `reported` says.
    """

    def __init__(
        self, sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report: Report = _in_error_output
        self._answered = False
        self._sleep = sleep
        self._clock = clock

    @contextmanager
    def reported(self, report: Report) -> Iterator[None]:
        """Show what is waited for in another way during the body."""
        before, self._report = self._report, report
        try:
            yield
        finally:
            self._report = before

    def bridged(self, send: Callable[[], Answered], *, reads: bool) -> Answered:
        """Return the response of the service to a request; `reads` is whether it changes nothing.

        Raises what `send` raises if the request cannot be repeated, and NotAnswering.
        """
        if not self._answered or not reads:
            response = send()
            self._answered = True
            return response
        reported = False
        pauses = self._pauses()
        while True:
            result = _attempt(send)
            if not isinstance(result, str):
                if reported:
                    self._report(None)
                return result
            pause = next(pauses, None)
            if pause is None:
                raise NotAnswering(f"The service has not answered for {LONGEST_SECONDS / 60:.0f} minutes ({result}).")
            reported = True
            self._report(f"The service does not answer; next attempt in {pause} s.")
            self._sleep(pause)

    def _pauses(self) -> Iterator[int]:
        """Yield the pause before each further attempt, from the first failure on, until it has taken too long."""
        began = self._clock()
        for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
            if self._clock() - began + pause > LONGEST_SECONDS:
                return
            yield pause


def _attempt(send: Callable[[], Answered]) -> Answered | str:
    """Return the response to a request, or why there is none now."""
    from keystoneauth1 import exceptions

    try:
        response = send()
    except (exceptions.ConnectFailure, exceptions.DiscoveryFailure) as error:
        return str(error).partition(": ")[0]  # the rest comes from the HTTP library
    if response.status_code not in _AWAY:
        return response
    with response:
        return f"{response.status_code} {response.reason}"


def _in_error_output(text: str | None) -> None:
    say(text or ANSWERS_AGAIN, err=True)
