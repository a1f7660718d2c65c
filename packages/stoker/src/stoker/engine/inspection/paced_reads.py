"""Reads of the cloud at a bounded rate, for what nobody waits for.

Each service gets so many calls per minute, and is left alone for a while after it has not answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.cloud.transport import Answer
from stoker.engine.inspection.shared_reads import SharedReads
from stoker.engine.records.state import ResourceState
from stoker_foundation.clock import Clock, sleep

Result = TypeVar("Result")

FIRST_PAUSE, LONGEST_PAUSE = 60.0, 3600.0
"""Seconds for which a service that does not answer is not asked; the pause doubles with each failure in a row."""


class Pace:
    """The rate of calls, per service. `calls` is the number of those that were made."""

    def __init__(self, clock: Clock, calls_per_minute: int) -> None:
        self._clock = clock
        self._gap = 60.0 / calls_per_minute
        self._free_at: dict[str, float] = {}
        self._failures: dict[str, tuple[int, float, CloudError]] = {}
        self.calls = 0

    async def call(self, service: str, work: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of a call of a service, after waiting for its turn.

        Raises the error of the last call, without calling, while the service is left alone.
        """
        self._refuse_during_pause(service)
        now = self._clock.monotonic()
        starts_at = max(now, self._free_at.get(service, now))
        self._free_at[service] = starts_at + self._gap
        if starts_at > now:
            await sleep(self._clock, starts_at - now)
            self._refuse_during_pause(service)
        self.calls += 1
        try:
            result = await work()
        except CloudError as error:
            if error.transient:
                times = self._failures.get(service, (0,))[0] + 1
                pause = min(FIRST_PAUSE * 2.0 ** min(times - 1, 10), LONGEST_PAUSE)
                self._failures[service] = times, self._clock.monotonic() + pause, error
            raise
        self._failures.pop(service, None)
        return result

    def _refuse_during_pause(self, service: str) -> None:
        _, until, error = self._failures.get(service, (0, 0.0, None))
        if error is not None and self._clock.monotonic() < until:
            raise error


class PacedReads(SharedReads):
    """Shared reads whose calls wait for their turn."""

    def __init__(self, states: Iterable[ResourceState], pace: Pace) -> None:
        super().__init__((state.type, state.row.physical_id) for state in states)
        self._pace = pace
        self._paced: dict[Cloud, Cloud] = {}

    def over(self, cloud: Cloud) -> Cloud:
        """Return a cloud that answers from lists what these tell, and waits before each call."""
        if cloud not in self._paced:
            self._paced[cloud] = cast(Cloud, _PacedCloud(cloud, self._pace))
        return super().over(self._paced[cloud])


class _PacedCloud:
    """A cloud that is called at a bounded rate."""

    def __init__(self, cloud: Cloud, pace: Pace) -> None:
        self._cloud = cloud
        self._pace = pace

    def __getattr__(self, name: str) -> object:
        return getattr(self._cloud, name)

    async def request(self, method: str, service: str, path: str, **options: Any) -> Answer:
        return await self._pace.call(service, lambda: self._cloud.request(method, service, path, **options))

    async def get(self, service: str, path: str, **options: Any) -> Any:
        return (await self.request("GET", service, path, **options)).body

    async def list(
        self, service: str, path: str, key: str, params: Mapping[str, object] | None = None, **options: object
    ) -> list[Any]:
        return await self._pace.call(service, lambda: self._cloud.list(service, path, key, params, **options))
