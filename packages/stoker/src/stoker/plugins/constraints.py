"""The contract of custom constraints, and a checker that makes each check once per request."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from stoker.base.errors import CloudError
from stoker.base.similar import closest
from stoker.cloud.errors import NotNamed
from stoker.cloud.finders import finders
from stoker.plugins.former_names import accept_former_methods

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


class CustomCheck(ABC):
    """One custom constraint. An instance is shared by all stacks and must be stateless.

    `service` is the plug-in name of the service that it calls, None for a check of the format only. `collection` is the
    path of that service's collection in which an object with the name or ID must exist; None for other checks. Classes
    for 0.1.0 define `complaint` instead of `violation`: this is accepted for one release, with a DeprecationWarning.
    """

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        accept_former_methods(cls, {"complaint": "violation"})

    @property
    def service(self) -> str | None:
        return None

    @property
    def collection(self) -> str | None:
        return None

    @abstractmethod
    async def violation(self, value: object, cloud: Cloud | None) -> str | None:
        """Return what is wrong with `value`; None when it is valid. `cloud` is None where no service may be called."""


class FormCheck(CustomCheck):
    """A check that needs only the value, and no call of a service."""

    @abstractmethod
    def problem(self, value: object) -> str | None:
        """Return what is wrong with `value`; None when it is valid."""

    async def violation(self, value: object, cloud: Cloud | None) -> str | None:
        return self.problem(value)


class Exists(CustomCheck):
    """The value must be the name or ID of an object, as a finder finds it; with `empty_allowed` it may also be empty.

    `finder` is the name of a finder (`neutron.network`).
    """

    def __init__(self, finder: str, empty_allowed: bool = False) -> None:
        self.finder = finder
        self._empty_allowed = empty_allowed

    @property
    def service(self) -> str:
        return finders()[self.finder].service

    @property
    def collection(self) -> str:
        return finders()[self.finder].path

    async def violation(self, value: object, cloud: Cloud | None) -> str | None:
        if cloud is None or (self._empty_allowed and not value):
            return None
        finder = finders()[self.finder]
        try:
            if finder.extension is not None and not await cloud.has_extension(finder.service, finder.extension):
                return f"{finder.service} has not loaded the extension {finder.extension}"
            await cloud.find(self.finder, str(value))
        except NotNamed as error:
            return f"{error.reason}{_alternatives(str(value), await finder.known_names(cloud))}"
        except CloudError as error:
            if error.transient or error.status == 401 or not 400 <= error.status < 500:
                raise
            return error.reason
        return None


def _alternatives(value: str, known: Sequence[str]) -> str:
    """Return the end of a message about a name that does not exist: a similar one, or some that exist."""
    if close := closest(value, known):
        return f"; did you mean {close!r}?"
    return f"; there are {', '.join(known[:_MOST_NAMED])}{', …' if len(known) > _MOST_NAMED else ''}" if known else ""


_MOST_NAMED = 8


class ConstraintChecker:
    """Checks of one request on behalf of one project.

    Equal checks are made once; failures are not cached, so that objects created in the meantime are found. `checks`
    returns a constraint by its name, None when there is none.
    """

    def __init__(self, checks: Callable[[str], CustomCheck | None], cloud: Cloud | None) -> None:
        self._checks = checks
        self._cloud = cloud
        self._answers: dict[tuple[str, str], asyncio.Future[str | None]] = {}

    async def check(self, name: str, value: object) -> str | None:
        """Check `value` with the constraint `name`, and return an error message; None when it is valid.

        Without a cloud, constraints that call a service are satisfied. Raises CloudError when a service fails, as
        opposed to answering that the value is invalid.
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
            answer = self._answers[key] = asyncio.ensure_future(found.violation(value, self._cloud))
            answer.add_done_callback(lambda done: self._keep_success(key, done))
        return await asyncio.shield(answer)

    async def check_all(self, questions: Iterable[tuple[str, object]]) -> list[str | None]:
        """Make many checks, `(constraint name, value)`, concurrently, and return the results in the same order."""
        return list(await asyncio.gather(*(self.check(name, value) for name, value in questions)))

    def _keep_success(self, key: tuple[str, str], done: asyncio.Future[str | None]) -> None:
        if done.cancelled() or done.exception() is not None or done.result() is not None:
            self._answers.pop(key, None)


Checks = Mapping[str, CustomCheck]
"""The object of an entry point in the group `stoker.constraints`: checks by constraint name."""
