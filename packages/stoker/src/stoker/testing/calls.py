"""The requests that an emulated cloud has received from an engine, as it received them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import orjson

from openstack_emulator.core.http import Request, Response
from stoker_foundation.patterns.linear import fits_shell

READS = frozenset({"GET", "HEAD", "OPTIONS"})
_IDENTIFIERS = ("id", "uuid", "name")


@dataclass(frozen=True, slots=True)
class CloudCall:
    """A request and its answer. `time` is the virtual time, in seconds since the epoch; `path` begins with the service
    (`/compute/v2.1/servers`). `body` and `answer` are JSON data, bytes for anything else, and None where there is none.
    `status` is None if the connection was closed without an answer. `resource` is the ID of the stack and the name of
    the resource that the request was sent for, if it was sent while an operation ran.
    """

    time: float
    method: str
    path: str
    query: str
    body: object
    status: int | None
    answer: Any
    resource: tuple[str, str] | None = None

    @property
    def properties(self) -> Any:
        """What the body says about the object: the content of its only wrapper, such as `server`."""
        return _unwrapped(self.body)

    @property
    def made_id(self) -> str:
        """The ID, or else the name, of the object that the request created; empty if it created none."""
        succeeded = self.method == "POST" and self.status is not None and self.status < 300
        return identity(self.answer) if succeeded else ""

    @property
    def listed(self) -> int:
        """How many objects the answer lists; 0 if it is no list."""
        return sum(map(len, lists(self.answer).values())) if self.method == "GET" else 0

    def made(self, object_id: str) -> bool:
        """Whether the request created the object: the answer to a POST has its ID, or a PUT names it."""
        if self.method == "PUT":
            return self.path.endswith(f"/{object_id}")
        described = _unwrapped(self.answer)
        names = [described.get(key) for key in _IDENTIFIERS] if isinstance(described, Mapping) else []
        return self.method == "POST" and object_id in names


class CloudCalls(Sequence[CloudCall]):
    """Requests, oldest first."""

    def __init__(self, calls: Sequence[CloudCall] = ()) -> None:
        self._calls = list(calls)

    @overload
    def __getitem__(self, index: int) -> CloudCall: ...

    @overload
    def __getitem__(self, index: slice) -> CloudCalls: ...

    def __getitem__(self, index: int | slice) -> CloudCall | CloudCalls:
        return CloudCalls(self._calls[index]) if isinstance(index, slice) else self._calls[index]

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[CloudCall]:
        return iter(self._calls)

    def __repr__(self) -> str:
        return "\n".join(f"{call.method} {call.path} {call.status}" for call in self._calls)

    def matching(self, request: str) -> CloudCalls:
        """The requests with a method and path such as `POST /network/v2.0/*`; `*` stands for any characters."""
        method, _, path = request.partition(" ")
        return CloudCalls(
            [call for call in self if method.upper() in ("*", call.method) and fits_shell(path, call.path)]
        )

    @property
    def changes(self) -> CloudCalls:
        """The requests that may have changed something."""
        return CloudCalls([call for call in self if call.method not in READS])

    def of(self, stack_id: str, resource: str) -> CloudCalls:
        """The requests that were sent for a resource of a stack, by its name."""
        return CloudCalls([call for call in self if call.resource == (stack_id, resource)])

    def that_made(self, object_id: str) -> CloudCall | None:
        """The request that created the object with this ID, or else the last that succeeded in changing something."""
        done = [call for call in self.changes if call.status is not None and call.status < 400]
        creating = [call for call in done if call.made(object_id)]
        return next(iter([*creating[-1:], *done[-1:]]), None)

    def clear(self) -> None:
        """Forget the requests until now."""
        self._calls.clear()

    def record(self, time: float, sent: Request, response: Response | None, resource: tuple[str, str] | None) -> None:
        """Add a request that a cloud has received, and its response."""
        status, answer = (None, None) if response is None else (response.status, _data(response.payload()))
        body = _data(sent.body)
        self._calls.append(CloudCall(time, sent.method, sent.path, sent.query_string, body, status, answer, resource))


def lists(answer: object) -> dict[str, list[Any]]:
    """Return the lists of objects in the answer to a request for a collection, by their keys."""
    if not isinstance(answer, Mapping) or "id" in answer or "uuid" in answer:
        return {}
    return {
        key: value
        for key, value in answer.items()
        if isinstance(value, list) and not key.endswith("links") and all(isinstance(entry, Mapping) for entry in value)
    }


def identity(described: object) -> str:
    """Return the ID of an object that a service describes, or else its name; empty for anything else."""
    content = _unwrapped(described)
    if not isinstance(content, Mapping):
        return ""
    return str(next((content[key] for key in _IDENTIFIERS if content.get(key)), ""))


def _data(content: bytes) -> Any:
    if not content:
        return None
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return content


def _unwrapped(body: Any) -> object:
    wrapped = [value for value in body.values() if isinstance(value, Mapping)] if isinstance(body, Mapping) else []
    return wrapped[0] if wrapped and next(iter(body.values())) is wrapped[0] else body
