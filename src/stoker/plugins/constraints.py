"""The contract of custom constraints, and the checker that asks each question once per request."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stoker.cloud.session import Cloud


class CustomCheck(ABC):
    """One custom constraint. An instance serves everybody and holds no state.

    `service` is the plug-in name of the service that it asks, None for a check of form alone. `collection` is the path
    of that service's collection that must have an object of the name or id; None where no object is looked for.
    """

    service: str | None = None
    collection: str | None = None

    @abstractmethod
    async def complaint(self, value: Any, cloud: Cloud | None) -> str | None:
        """What is wrong with `value`; None when nothing is. `cloud` is None where no service may be asked."""


class FormCheck(CustomCheck):
    """A check that needs nothing but the value, so it can be made at once."""

    @abstractmethod
    def problem(self, value: Any) -> str | None:
        """What is wrong with `value`; None when nothing is."""

    async def complaint(self, value: Any, cloud: Cloud | None) -> str | None:
        return self.problem(value)


class ConstraintChecker:
    """Checks of one request on behalf of one project.

    The same question asked twice is answered once; complaints are not kept, so what has been made meanwhile is found.
    `checks` answers a constraint by its name, None when there is none.
    """

    def __init__(self, checks: Callable[[str], CustomCheck | None], cloud: Cloud | None) -> None:
        self._checks = checks
        self._cloud = cloud
        self._answers: dict[tuple[str, str], asyncio.Future[str | None]] = {}

    async def check(self, name: str, value: Any) -> str | None:
        """The complaint of the constraint `name` about `value`; None when it has none.

        Without a cloud, constraints that ask a service have no complaints. Raises CloudError when a service fails to
        answer (rather than refuses).
        """
        found = self._checks(name)
        if found is None:
            return f"there is no constraint {name!r}"
        if isinstance(found, FormCheck):
            return found.problem(value)
        if self._cloud is None:
            return None
        key = (name, repr(value))
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = asyncio.ensure_future(found.complaint(value, self._cloud))
            answer.add_done_callback(lambda done: self._keep_success(key, done))
        return await asyncio.shield(answer)

    async def check_all(self, questions: Iterable[tuple[str, Any]]) -> list[str | None]:
        """The answers to many `(constraint name, value)` questions, asked at once, in their order."""
        return list(await asyncio.gather(*(self.check(name, value) for name, value in questions)))

    def _keep_success(self, key: tuple[str, str], done: asyncio.Future[str | None]) -> None:
        if done.cancelled() or done.exception() is not None or done.result() is not None:
            self._answers.pop(key, None)


Checks = Mapping[str, CustomCheck]
"""What an entry point of the group `stoker.constraints` yields: checks by constraint name."""
