"""Signals by signed URLs: `PUT /v1/waitcondition/<ARN>` and `POST /v1/signal/<ARN>` (facts: rest_api.json, cfn).

The ARN is a resource's. Whoever has the URL may signal that resource, and nothing else: the signature is that of the
resource's own user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.api.bodies import parse_json
from stoker.api.cfn.call import Call
from stoker.api.faults import BadRequest, NoSuchPath

POLICY = "resource:signal"

_PATH = re.compile(r"/v1/\w+/(?P<stack>arn:openstack:heat::[^/]+:stacks/[^/]+/[^/]+)/resources/(?P<resource>[^/]+)")


@dataclass(frozen=True)
class Target:
    """The resource that a URL names: its stack's ARN, and its name."""

    stack: str
    resource: str


SignalHandler = Callable[[Call, Target, bytes], "dict[str, Any] | None"]


def target(path: str) -> Target:
    """The resource of a signal's path, which is unescaped. Raises NoSuchPath."""
    found = _PATH.fullmatch(path)
    if found is None:
        raise NoSuchPath("The path must name a resource: /v1/signal/<ARN of the stack>/resources/<name>.")
    return Target(found["stack"], found["resource"])


def wait_condition(call: Call, named: Target, body: bytes) -> dict[str, Any]:
    """Hand the signal over, and tell everything that has been signalled so far."""
    _signal(call, named, body)
    metadata = call.ask_of(named.stack, "resource_metadata", name=named.resource)
    return {"resource": named.resource, "metadata": metadata}


def signal(call: Call, named: Target, body: bytes) -> None:
    """Hand the signal over."""
    _signal(call, named, body)


def _signal(call: Call, named: Target, body: bytes) -> None:
    call.ask_of(named.stack, "resource_signal", name=named.resource, details=_details(body))


def _details(body: bytes) -> Mapping[str, Any] | None:
    """The object in the body, whatever content type a simple client gives it; None when there is no body."""
    if not body.strip():
        return None
    details = parse_json(body, "the signal")
    if details is not None and not isinstance(details, dict):
        raise BadRequest("A signal must be a JSON object.")
    return details


ROUTES: tuple[tuple[str, str, SignalHandler], ...] = (
    ("/v1/waitcondition/", "PUT", wait_condition),
    ("/v1/signal/", "POST", signal),
)
"""Where signals arrive: the beginning of the path, the method, what happens."""
