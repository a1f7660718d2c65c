"""Signals by signed URLs: `PUT /v1/waitcondition/<ARN>` and `POST /v1/signal/<ARN>`.

The ARN identifies a resource. The URL is signed by the resource's own stack user, so that it gives access only to
signals for this resource.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.api.cfn.call import QueryCall
from stoker.api.faults import BadRequest, NoSuchPath
from stoker.api.requests import parse_json
from stoker.contract.request import by_name
from stoker.contract.resources import ShowResourceMetadata, SignalResource

POLICY = "resource:signal"

_PATH = re.compile(r"/v1/\w+/(?P<stack>arn:openstack:heat::[^/]+:stacks/[^/]+/[^/]+)/resources/(?P<resource>[^/]+)")


@dataclass(frozen=True)
class Target:
    """The resource in a URL: its stack's ARN, and its name."""

    stack: str
    resource: str


SignalHandler = Callable[[QueryCall, Target, bytes], "dict[str, Any] | None"]


def target(path: str) -> Target:
    """Return the resource in the path of a signal, which is unescaped. Raises NoSuchPath."""
    found = _PATH.fullmatch(path)
    if found is None:
        raise NoSuchPath("The path must contain a resource: /v1/signal/<ARN of the stack>/resources/<name>.")
    return Target(found["stack"], found["resource"])


def wait_condition(call: QueryCall, named: Target, body: bytes) -> dict[str, object]:
    """Deliver the signal, and return all signals so far."""
    _signal(call, named, body)
    metadata = call.execute_on_stack(ShowResourceMetadata(ref=by_name(named.stack), name=named.resource))
    return {"resource": named.resource, "metadata": metadata}


def signal(call: QueryCall, named: Target, body: bytes) -> None:
    """Deliver the signal."""
    _signal(call, named, body)


def _signal(call: QueryCall, named: Target, body: bytes) -> None:
    call.execute_on_stack(SignalResource(ref=by_name(named.stack), name=named.resource, details=_details(body)))


def _details(body: bytes) -> Mapping[str, object] | None:
    """Return the object in the body, whatever its content type, since simple clients send any; None without a body."""
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
"""The URLs for signals: the beginning of the path, the method, the handler."""
