"""The actions that tasks can run: those of the package `std` that need nothing outside the cloud."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from openstack_emulator.core.outgoing import Answer, RequestSender, SendFailed
from openstack_emulator.workflow.rules.language import expectations

_REQUIRED = object()
HTTP_SECONDS = 10.0
_UNAVAILABLE = {
    "std.javascript": "the emulator has no JavaScript engine",
    "std.js": "the emulator has no JavaScript engine",
    "std.email": "the emulator sends no mail",
    "std.ssh": "the emulator connects to no hosts",
    "std.ssh_proxied": "the emulator connects to no hosts",
    "std.wait_ssh": "the emulator connects to no hosts",
}


class ActionError(Exception):
    """An action failed, or cannot be run."""


@dataclass(frozen=True)
class Result:
    """What an action gives: at once; after `seconds`; from `fetch`, which blocks and sends requests with what it is
    given; or from a client of the API."""

    output: object = None
    seconds: float = 0.0
    fetch: Callable[[RequestSender], object] | None = None
    asynchronous: bool = False


@dataclass(frozen=True)
class Action:
    """An action: its parameters with their defaults, and the function that runs it.

    synchronous: it ends by itself, not when a client sets its state.
    """

    run: Callable[..., Result]
    description: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    synchronous: bool = True

    @property
    def signature(self) -> str:
        """The parameters as the API shows them."""
        return ", ".join(
            name if value is _REQUIRED else f"{name}={json.dumps(value)}" for name, value in self.parameters.items()
        )


def check_input(name: str, values: Mapping[str, Any]) -> Action:
    """Return the action of a name that accepts an input. Raises ActionError."""
    action = ACTIONS.get(name)
    if action is None:
        reason = _UNAVAILABLE.get(name)
        raise ActionError(f"Failed to find action [action_name={name}]" + (f": {reason}" if reason else ""))
    missing = [key for key, value in action.parameters.items() if value is _REQUIRED and key not in values]
    if problems := expectations(missing, values.keys() - action.parameters.keys()):
        raise ActionError(f"Invalid input [name={name}, {problems}]")
    return action


def run(name: str, arguments: Mapping[str, Any]) -> Result:
    """Run an action. Raises ActionError."""
    action = check_input(name, arguments)
    values = {key: arguments.get(key, value) for key, value in action.parameters.items()}
    try:
        return action.run(**values)
    except (TypeError, ValueError) as error:
        raise ActionError(f"Invalid input [name={name}]: {error}") from None


def _fail(error_data: object) -> Result:
    raise ActionError("Fail action expected exception." if error_data is None else json.dumps(error_data))


def _sleep(seconds: Any) -> Result:
    try:
        duration = float(seconds)
    except (TypeError, ValueError):
        raise ActionError(f"seconds must be a number, not {seconds!r}") from None
    return Result(seconds=max(duration, 0.0))


def _http(url: str, method: str, params: Any, body: object, json_body: object, headers: Any, timeout: Any) -> Result:
    parts, sent = urlsplit(str(url)), {str(key): str(value) for key, value in (headers or {}).items()}
    data = body
    if json_body is not None:
        data = json.dumps(json_body)
        sent.setdefault("Content-Type", "application/json")
    elif isinstance(body, Mapping):
        data = urlencode(body)
        sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
    query = "&".join(part for part in (parts.query, urlencode(params or {})) if part)
    address, content = parts._replace(query=query).geturl(), None if data is None else str(data).encode()
    seconds = min(float(timeout or HTTP_SECONDS), HTTP_SECONDS)
    return Result(fetch=lambda sender: _fetched(sender, address, str(method), content, sent, seconds))


def _fetched(
    sender: RequestSender, url: str, method: str, data: bytes | None, headers: Mapping[str, str], seconds: float
) -> dict[str, object]:
    """Return a response; redirects, which could lead to another host, are responses. Raises ActionError for one that
    reports an error, or for none."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not sender.names_local(parts):
        raise ActionError(f"std.http of the emulator reaches hosts with a loopback address only, not {url}")
    try:
        answer = sender.send(url, method, data, headers, seconds, public=False)
    except SendFailed as error:
        raise ActionError(f"Failed to send HTTP request: {error}") from None
    content = _content(url, answer)
    if answer.status >= 400:
        raise ActionError(json.dumps(content))
    return content


def _content(url: str, answer: Answer) -> dict[str, object]:
    text = answer.content.decode(errors="replace")
    try:
        content = json.loads(text)
    except ValueError:
        content = text
    return {
        "content": content,
        "status": answer.status,
        "headers": answer.headers,
        "url": url,
        "reason": answer.reason,
    }


def _http_action(**value: Any) -> Result:
    return _http(json_body=value.pop("json"), **value)


def _asynchronous_http(**value: object) -> Result:
    result = _http_action(**value)
    return Result(fetch=result.fetch, asynchronous=True)


_HTTP = {
    "url": _REQUIRED,
    "method": "GET",
    "params": None,
    "body": None,
    "json": None,
    "headers": None,
    "timeout": None,
}

ACTIONS: Mapping[str, Action] = {
    "std.async_noop": Action(
        lambda: Result(asynchronous=True),
        "Does nothing, and ends when a client sets the state of the action.",
        synchronous=False,
    ),
    "std.echo": Action(
        lambda output, delay: Result(output, _sleep(delay).seconds),
        "Returns its parameter.",
        {"output": _REQUIRED, "delay": 0},
    ),
    "std.fail": Action(_fail, "Fails.", {"error_data": None}),
    "std.http": Action(_http_action, "Sends an HTTP request to a loopback address.", _HTTP),
    "std.mistral_http": Action(
        _asynchronous_http,
        "Sends an HTTP request, and ends when a client sets the state of the action.",
        _HTTP,
        synchronous=False,
    ),
    "std.noop": Action(Result, "Does nothing."),
    "std.sleep": Action(_sleep, "Waits.", {"seconds": 1}),
    "std.test_dict": Action(
        lambda size, key_prefix, val: Result({f"{key_prefix}{at}": val for at in range(min(int(size), 10_000))}),
        "Returns a dictionary.",
        {"size": 0, "key_prefix": "", "val": ""},
    ),
}
"""The actions, by name."""
