"""Read many objects with one list, where a list tells as much as a read of each.

A comparison of many resources asks for each object by itself. Where at least `MANY` of them are in one list, the first
request reads that list, and it answers all of them. What the list does not have is asked for by itself: an object of
another project, or one that does not exist. Likewise, what resources ask Stoker's own record about objects at the same
time is one question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self, cast

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.cloud.transport import Answer
from stoker.engine.records.state import ResourceState
from stoker.plugins.call import Unrecorded
from stoker.plugins.listing import SharedList
from stoker.plugins.resource import ResourceType

MANY = 20
"""Number of resources from which on a list is read in place of single objects: it can have others besides."""
_SELECTED = 150
"""Number of IDs in one request for a list: a URL of 7 KB, of 8 that web servers accept."""
_ASKED = 500
"""Number of objects, or a few more, in one question to the database."""

_Items = Mapping[str, list[Any]]


class SharedReads:
    """Answers what a comparison of these resources asks from lists. Each list is read once, so this serves one look."""

    def __init__(self, objects: Iterable[tuple[ResourceType, str | None]]) -> None:
        """`objects` are the types and the physical IDs of the resources, None for one without an object."""
        by_list: dict[SharedList, list[str]] = {}
        for kind, physical_id in objects:
            for shared in kind.shared_lists if physical_id is not None else ():
                by_list.setdefault(shared, []).append(str(physical_id))
        self._by_list = {shared: identifiers for shared, identifiers in by_list.items() if len(identifiers) >= MANY}
        self._read: dict[tuple[Cloud, SharedList], asyncio.Future[_Items | None]] = {}
        self._questions: dict[tuple[str, str | None], _Question] = {}

    @classmethod
    def of(cls, states: Iterable[ResourceState]) -> Self:
        """Return the reads for recorded resources."""
        return cls((state.type, state.row.physical_id) for state in states)

    def over(self, cloud: Cloud) -> Cloud:
        """Return a cloud that answers from the lists what these tell."""
        return cast(Cloud, _SharingCloud(cloud, self)) if self._by_list else cloud

    def unrecorded(self, stack_id: str, whole: str | None, ask: Unrecorded) -> Unrecorded:
        """Return what asks which of some objects belong to no resource, with one question for all resources of a stack
        that ask at the same time. `whole` is the type whose resources do not count; equal questions can be put by any
        `ask` of the stack.
        """

        async def unrecorded(physical_ids: Collection[str]) -> set[str]:
            key = stack_id, whole
            question = self._questions.get(key)
            if question is None or len(question.physical_ids) >= _ASKED:
                question = self._questions[key] = _Question(ask)
                asyncio.get_running_loop().call_soon(self._put, key, question)
            return await question.answered(physical_ids)

        return unrecorded

    def _put(self, key: tuple[str, str | None], question: _Question) -> None:
        """Put a question; who asks from now on is late for it."""
        if self._questions.get(key) is question:
            del self._questions[key]
        question.put()

    async def member(self, cloud: Cloud, service: str, path: str) -> Answer | None:
        """Return the answer to a request for one object; None if it is in no list that is read."""
        above, _, identifier = path.rpartition("/")
        for shared in self._by_list:
            if (shared.service, shared.path, shared.of_others) == (service, above, False):
                for item in (await self._items(cloud, shared) or {}).get(identifier, ()):
                    return Answer(200, {}, {shared.member: item} if shared.member else item)
        return None

    async def items_with_ids(
        self, cloud: Cloud, service: str, path: str, params: Mapping[str, object]
    ) -> list[object] | None:
        """Return the items of a list with an ID in one field; None if the list is not read for this ID."""
        if len(params) != 1:
            return None
        ((name, value),) = params.items()
        for shared, identifiers in self._by_list.items():
            known = (shared.service, shared.list_path, shared.field, shared.of_others)
            if known == (service, path, name, True) and value in identifiers:
                items = await self._items(cloud, shared)
                return None if items is None else list(items.get(value, ()))
        return None

    async def _items(self, cloud: Cloud, shared: SharedList) -> _Items | None:
        """Return the items of a list by the ID that is asked for, which the first caller reads; the others wait.

        None if the service refuses to list. Raises CloudError if it does not answer: it would not answer requests for
        single objects either.
        """
        if (known := self._read.get((cloud, shared))) is not None:
            return await asyncio.shield(known)
        answer: asyncio.Future[_Items | None] = asyncio.get_running_loop().create_future()
        self._read[cloud, shared] = answer
        try:
            answer.set_result(await self._listed(cloud, shared))
        except CloudError as error:
            if error.transient:
                answer.set_exception(error)
                answer.exception()  # it is raised here, too; nobody else may be waiting
                raise
            answer.set_result(None)
        finally:
            answer.cancel()  # without effect unless the caller was cancelled, or failed otherwise
        return answer.result()

    async def _listed(self, cloud: Cloud, shared: SharedList) -> _Items:
        identifiers = self._by_list[shared]
        choices: list[Mapping[str, object] | None] = [None]
        if shared.selects:
            starts = range(0, len(identifiers), _SELECTED)
            choices = [{shared.field: identifiers[start : start + _SELECTED]} for start in starts]
        parts = [cloud.list(shared.service, shared.list_path, shared.members, choice) for choice in choices]
        found: dict[str, list[object]] = {}
        for items in await asyncio.gather(*parts):
            for item in items:
                found.setdefault(str(item.get(shared.field)), []).append(item)
        return found


class _Question:
    """A question about the objects of several resources, which is put once."""

    def __init__(self, ask: Unrecorded) -> None:
        self.physical_ids = set[str]()
        self._ask = ask
        self._answer: asyncio.Future[set[str]] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    async def answered(self, physical_ids: Collection[str]) -> set[str]:
        """Return the answer for some of the objects. Raises what the question raises."""
        self.physical_ids.update(physical_ids)
        return (await asyncio.shield(self._answer)).intersection(physical_ids)

    def put(self) -> None:
        """Begin to ask for all objects together."""
        self._task = asyncio.create_task(self._ask_for_all())

    async def _ask_for_all(self) -> None:
        try:
            self._answer.set_result(await self._ask(self.physical_ids))
        except Exception as error:
            self._answer.set_exception(error)
            self._answer.exception()  # everybody who waits may have been cancelled
        finally:
            self._answer.cancel()  # without effect unless this task was cancelled


class _SharingCloud:
    """A cloud whose reads are answered from lists where possible; everything else is the cloud's own."""

    def __init__(self, cloud: Cloud, shared: SharedReads) -> None:
        self._cloud = cloud
        self._shared = shared

    def __getattr__(self, name: str) -> object:
        return getattr(self._cloud, name)

    async def request(self, method: str, service: str, path: str, **options: Any) -> Answer:
        if method == "GET" and not options.keys() - {"ok"}:
            answer = await self._shared.member(self._cloud, service, path)
            if answer is not None:
                return answer
        return await self._cloud.request(method, service, path, **options)

    async def get(self, service: str, path: str, **options: Any) -> Any:
        return (await self.request("GET", service, path, **options)).body

    async def list(
        self, service: str, path: str, key: str, params: Mapping[str, object] | None = None, **options: object
    ) -> list[Any]:
        if params and not options:
            found = await self._shared.items_with_ids(self._cloud, service, path, params)
            if found is not None:
                return found
        return await self._cloud.list(service, path, key, params, **options)
