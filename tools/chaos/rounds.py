"""One round on a real cluster: trouble for a while, then peace, in which everything must come to be as it is wanted."""

from __future__ import annotations

import asyncio
import random
import time
import traceback
from collections.abc import Callable
from typing import Any

import aiohttp
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from stoker.store.tables import operations
from testing.simulation.simulated_inspection import Inspection
from testing.simulation.simulated_parts import FaultInjector
from testing.simulation.simulated_user import User, ref
from tools.chaos.adversary import Adversary
from tools.chaos.front import Front
from tools.chaos.place import Place

TROUBLE_SECONDS = 40.0
LONGEST = 240.0
"""Seconds after which whatever still runs, although nothing goes wrong any more, is stuck."""
CALM = 3
"""How often in a row nothing is seen to run before that is believed."""
_LOOK_SECONDS = 0.5
_TRIES = 20

Report = dict[str, Any]
"""Of one seed: `seed`, `violations`, `counts` by name, `seconds`; as the simulation has it."""


class Stuck(Exception):
    """What does not come to its end."""


class Noted(Exception):
    """Something is wrong and noted; what else would be found follows from it."""


class ManyStacks(User):
    """More stacks than in the simulation, which all go on at the same time."""

    NAMES = ("alpha", "beta", "gamma", "delta")


class Round:
    """One seed's choices; their results depend on the machine as well."""

    def __init__(self, place: Place, seed: int, session: aiohttp.ClientSession) -> None:
        self._place = place
        self._seed = seed
        self._began = time.monotonic()
        self.injector = FaultInjector(seed)
        self.injector.now = lambda: time.monotonic() - self._began
        place.served.forget_tokens()
        self._inspection = place.served.do(self._inspect)
        self._front = Front(place, session, self._inspection, self.injector)
        self._user = ManyStacks(self._front, self._inspection)
        self._adversary = Adversary(place, self.injector, seed)
        self._pace = random.Random(f"pace {seed}")

    def _inspect(self) -> Inspection:
        return Inspection(self._place.served.cloud, self._place.cluster.database, self.injector)

    async def run(self) -> Report:
        """The round from beginning to end. The place is as it was before, unless something is wrong."""
        before = self._operations()
        try:
            await self._live()
        except Noted:
            self._note("the round ends here")
        except Stuck as error:
            self.injector.violate("stuck", str(error))
        except Exception as error:
            self.injector.violate("broken", "".join(traceback.format_exception(error)))
        self.injector.counts["operations run"] = self._operations() - before
        return {
            "seed": self._seed,
            "violations": self.injector.violations,
            "counts": dict(self.injector.counts),
            "seconds": round(self.injector.now(), 1),
        }

    async def _live(self) -> None:
        faults = asyncio.create_task(self._adversary.inject_faults(TROUBLE_SECONDS))
        await self._request_while(faults)
        self._note("peace")
        await self._wait_until_idle()
        for name in self._user.NAMES:
            await self._user.complete_draft(name, self._wait_until_idle)
        await self._check_eventually(lambda: self._inspection.check(strict=True))
        await self._check_eventually(self._compare)
        for name in self._user.NAMES:
            if self._inspection.stack(name) is not None:
                await self._front.call("stack_delete", ref=ref(name))
        await self._wait_until_idle()
        await self._check_eventually(self._inspection.check_nothing_remains)

    # -- trouble -----------------------------------------------------------------------------------------------

    async def _request_while(self, trouble: asyncio.Task[None]) -> None:
        """The user asks for this and that, without waiting for answers, until the trouble is over."""
        async with asyncio.TaskGroup() as group:
            while not trouble.done():
                group.create_task(self._send_request())
                await asyncio.sleep(self._pace.choice((0.2, 0.5, 1.0, 2.0)))
        await trouble

    async def _send_request(self) -> None:
        try:
            await self._user.random_request()
            if self._pace.random() < 0.3:
                await self._user.answer()
        except DBAPIError:
            self._note("the user cannot look: the database is away")

    # -- peace -------------------------------------------------------------------------------------------------

    async def _wait_until_idle(self) -> None:
        """Return once nothing runs any more."""
        end = time.monotonic() + LONGEST
        calm = 0
        while calm < CALM:
            await asyncio.sleep(_LOOK_SECONDS)
            running = self._inspection.unfinished()
            calm = 0 if running or not await asyncio.to_thread(lambda: self._place.whole) else calm + 1
            if running:
                await self._user.answer()
            if time.monotonic() > end:
                raise Stuck(f"after {LONGEST:.0f} seconds without trouble: {running}")
        await self._check_eventually(self._inspection.check)

    async def _check_eventually(self, look: Callable[[], None]) -> None:
        """Look until all is right, for a while: an engine may still be taking away what it has made too late.

        Raises Noted when it does not come to be right.
        """
        violations = self.injector.violations
        known = len(violations)
        for _ in range(_TRIES):
            await asyncio.to_thread(self._place.served.do, look)
            if len(violations) == known:
                return
            await asyncio.sleep(_LOOK_SECONDS)
            del violations[known:]
        await asyncio.to_thread(self._place.served.do, look)
        if len(violations) > known:
            raise Noted

    def _compare(self) -> None:
        for name, draft in self._user.drafts.items():
            self._inspection.compare(name, draft)

    def _note(self, text: str) -> None:
        self.injector.trace.append(f"{self.injector.now():.3f} {text}")

    def _operations(self) -> int:
        query = select(func.count()).select_from(operations)
        return int(self._place.cluster.database.read_now(lambda connection: connection.execute(query).scalar_one()))
