"""Fault rules: they make requests fail, succeed with an error as the answer, wait, or lose their connection.

A rule is JSON:
`{"on": "POST /compute/v2.1/servers", "match": {"name": "db*"}, "times": 1, "after": 0, "do": "fail",
"status": 500, "message": "…", "seconds": 2.0}`.
`on` is a method (or `*`) and a path from the root of the cloud with `*` wildcards; `match` compares fields of
the JSON body at any depth, strings with wildcards. `after` first requests are not affected, then `times` are hit (null:
all). What is done:

fail            answer `status` (500) and `message` without acting
succeed_but_fail act, then answer `status` (503)
error_state     act, and let the object go to its error state later
rate_limit      answer 429 with `Retry-After: <seconds>` without acting; with `allowed`, only after this number of
                requests in the last `seconds`
delay           wait `seconds`, then act
drop            close the connection without acting
act_and_drop    act, then close the connection without answering
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from stoker_foundation.clock import Clock
from stoker_foundation.patterns.linear import fits_shell

_FIELD_TYPES: Mapping[str, Any] = {
    "on": str,
    "do": str,
    "match": dict,
    "times": int | None,
    "after": int,
    "status": int | None,
    "message": str,
    "seconds": int | float,
    "allowed": int,
}
ACTIONS = ("fail", "succeed_but_fail", "error_state", "rate_limit", "delay", "drop", "act_and_drop")
DEFAULT_STATUS = {"fail": 500, "succeed_but_fail": 503, "rate_limit": 429}


@dataclass
class Fault:
    """A rule; the fields are those of its JSON form. `seen` and `hits` count requests."""

    on: str
    do: str
    match: dict[str, Any] = field(default_factory=dict)
    times: int | None = None
    after: int = 0
    status: int | None = None
    message: str = "A fault rule made this request fail."
    seconds: float = 1.0
    allowed: int = 0
    id: str = field(default_factory=lambda: uuid4().hex)
    seen: int = 0
    hits: int = 0

    def __post_init__(self) -> None:
        if self.do not in ACTIONS:
            raise bad_request(f"Unknown 'do': {self.do!r}; it must be one of {', '.join(ACTIONS)}.")
        method, _, path = self.on.partition(" ")
        if not path.startswith("/") and path != "*":
            raise bad_request(f"'on' must be a method and a path such as 'POST /volume/v3/*', not {self.on!r}.")
        self._method = method.upper()
        self._path = path
        self._admitted: deque[float] = deque()

    def error(self) -> ApiError:
        """The answer to a request that a rule refuses, or answers with an error."""
        status = self.status or DEFAULT_STATUS.get(self.do, 500)
        headers = {"Retry-After": f"{self.seconds:g}"} if self.do == "rate_limit" else None
        return ApiError(status, self.message, headers=headers)

    def admit(self, now: float) -> bool:
        """Whether a request at `now`, in seconds of a monotonic clock, is within the rate; counts one that is.

        Never for rules without a rate.
        """
        while self._admitted and self._admitted[0] <= now - self.seconds:
            self._admitted.popleft()
        if len(self._admitted) >= self.allowed:
            return False
        self._admitted.append(now)
        return True

    def matches(self, request: Request) -> bool:
        """Whether the rule is about such a request: by its method, its path, and the fields of its body."""
        if self._method not in ("*", request.method) or not fits_shell(self._path, request.path):
            return False
        return not self.match or _body_matches(request, self.match)


class Faults:
    """The rules of one cloud, tried in the order in which they were added; the first that matches is used."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rules: dict[str, Fault] = {}

    def add(self, fault: Fault) -> Fault:
        self._rules[fault.id] = fault
        return fault

    def remove(self, key: str) -> Fault | None:
        return self._rules.pop(key, None)

    def clear(self) -> None:
        self._rules.clear()

    def all(self) -> list[dict[str, Any]]:
        return [asdict(rule) for rule in self._rules.values()]

    def take(self, request: Request) -> Fault | None:
        """The rule that applies to this request; counts it."""
        for rule in self._rules.values():
            if not rule.matches(request):
                continue
            if rule.admit(self._clock.monotonic()):
                continue
            rule.seen += 1
            if rule.seen > rule.after and (rule.times is None or rule.hits < rule.times):
                rule.hits += 1
                return rule
        return None


def parse_fault(body: object) -> Fault:
    """A rule from JSON. Raises ApiError 400."""
    if not isinstance(body, dict) or not {"on", "do"} <= body.keys() <= _FIELD_TYPES.keys():
        optional = sorted(_FIELD_TYPES.keys() - {"on", "do"})
        raise bad_request(f"A fault rule is an object with 'on', 'do' and maybe {', '.join(optional)}.")
    for name, value in body.items():
        if not isinstance(value, _FIELD_TYPES[name]) or isinstance(value, bool):
            raise bad_request(f"Field '{name}' of a fault rule has a wrong value: {value!r}.")
    return Fault(**body)


def _body_matches(request: Request, expected: dict[str, object]) -> bool:
    try:
        body = request.json
    except ApiError:
        return False
    return all(_has_field(body, name, value) for name, value in expected.items())


def _has_field(data: object, name: str, expected: object) -> bool:
    """Whether an object in JSON data, at any depth, has a field with this value."""
    if isinstance(data, dict):
        return (name in data and _is_equal(data[name], expected)) or any(
            _has_field(value, name, expected) for value in data.values()
        )
    return isinstance(data, list) and any(_has_field(value, name, expected) for value in data)


def _is_equal(value: object, expected: object) -> bool:
    """Whether a value is the expected one; in strings, `*` and `?` are wildcards."""
    if isinstance(value, str) and isinstance(expected, str):
        return fits_shell(expected, value)
    return bool(value == expected)
