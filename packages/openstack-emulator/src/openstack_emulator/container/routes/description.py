"""The fields that describe a container, and which microversions have them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.container.rules.errors import SCHEMA
from openstack_emulator.container.rules.images import DRIVERS
from openstack_emulator.container.rules.inputs import Change, NewContainer
from openstack_emulator.container.rules.validation import ZUN
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Version
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean, as_integer
from openstack_emulator.core.validation.problems import Check, Problem, specific, wrong_type

NAME = r"[a-zA-Z0-9][a-zA-Z0-9_.-]+"
DEFAULT_CPUS, DEFAULT_MEMORY = 1.0, 512
"""CPUs and mebibytes."""
PULL_POLICIES = ("ifnotpresent", "always", "never")
RESTART_POLICIES = ("no", "always", "unless-stopped", "on-failure")
SMALLEST_MEMORY = 4
"""Mebibytes."""
COMMAND_IS_LIST: Version = (1, 20)
TTY: Version = (1, 36)
_UNITS = {"b": 1 / 2**20, "k": 1 / 2**10, "m": 1, "g": 2**10}


def text_map(value: object) -> Problem | None:
    """A map of strings."""
    good = isinstance(value, dict) and all(isinstance(entry, str | int | float | bool) for entry in value.values())
    return None if good else specific(value, f"{value!r} is not a map of strings")


def memory(value: object) -> Problem | None:
    """Mebibytes, or a string of a number with a unit."""
    if (mebibytes(value) or 0) >= SMALLEST_MEMORY:
        return None
    return specific(value, f"{value!r} is not at least {SMALLEST_MEMORY} MiB")


def mebibytes(value: object) -> int | None:
    """Return memory in mebibytes; None for a value that is not a number with or without a unit."""
    text = str(value).strip().lower()
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _UNITS else (text, "m")
    if isinstance(value, bool) or not number.isascii() or not number.isdigit():
        return None
    return int(int(number) * _UNITS[unit])


def command(value: Any) -> Problem | None:
    """A string, or a list of strings and numbers."""
    good = isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(word, str | int | float) for word in value)
    )
    return None if good else wrong_type(value, "string", "array")


def restart_policy(value: object) -> Problem | None:
    """`{Name, MaximumRetryCount}`."""
    if not isinstance(value, dict) or value.get("Name") not in RESTART_POLICIES:
        return specific(value, f"{value!r} has no Name among {list(RESTART_POLICIES)}")
    retries = as_integer(value.get("MaximumRetryCount", 0))
    if retries is None or retries < 0 or value.keys() - {"Name", "MaximumRetryCount"}:
        return specific(value, f"{value!r} is not a restart policy")
    return None


def _policy(body: Mapping[str, object] | None) -> dict[str, str]:
    """Return a restart policy as it is kept. Raises ApiError 400 for a number of retries that is never used."""
    if body is None:
        return {}
    name, retries = str(body.get("Name")), body.get("MaximumRetryCount", 0)
    if name != "on-failure" and as_integer(retries):
        raise bad_request(f"maximum retry count not valid with restart policy of {name}")
    return {"Name": name, "MaximumRetryCount": str(retries)}


_TEXT = fields.nullable(fields.text())
_FLAG = fields.nullable(fields.boolean)
CHANGEABLE: Mapping[str, Check] = {
    "name": fields.nullable(fields.text(2, 255, NAME)),
    "cpu": fields.nullable(fields.number(0)),
    "memory": fields.nullable(memory),
}
KNOWN: Mapping[str, Check] = {
    **CHANGEABLE,
    "image": fields.text(2),
    "command": fields.nullable(command),
    "environment": fields.nullable(text_map),
    "labels": fields.nullable(text_map),
    "workdir": _TEXT,
    "interactive": _FLAG,
    "tty": _FLAG,
    "auto_remove": _FLAG,
    "image_driver": fields.nullable(fields.one_of(*DRIVERS)),
    "image_pull_policy": fields.nullable(fields.one_of("", *PULL_POLICIES)),
    "restart_policy": fields.nullable(restart_policy),
    "hostname": fields.nullable(fields.text(2, 63)),
    "disk": fields.nullable(fields.integer(1)),
    "availability_zone": _TEXT,
    "hints": fields.nullable(fields.mapping),
    "security_groups": fields.nullable(fields.items(fields.text(1))),
    "nets": fields.nullable(fields.items(fields.mapping)),
    "mounts": fields.nullable(fields.items(fields.mapping)),
}
SINCE: Mapping[str, Version] = {"auto_remove": (1, 3)}


def _object(request: Request) -> dict[str, object]:
    """Return the body of a request; Zun takes one that is not a JSON object for an empty one."""
    try:
        return request.json if isinstance(request.json, dict) else {}
    except ApiError:
        return {}


def described(request: Request, known: Mapping[str, Check], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the checked fields of a request's body that are not null. Raises ApiError 400."""
    body = _object(request)
    here = {name: check for name, check in known.items() if request.version >= SINCE.get(name, (1, 1))}
    ZUN.check("body", dict(sorted(body.items())), here, required)
    return {name: value for name, value in body.items() if value is not None}


def new_container(request: Request) -> NewContainer:
    """Return the container that a request wants. Raises ApiError 400."""
    body = described(request, KNOWN, ("image",))
    policy = _policy(body.get("restart_policy"))
    interactive = bool(as_boolean(body.get("interactive", False)))
    tty = body.get("tty", interactive and request.version < TTY)
    return NewContainer(
        name=body.get("name"),
        image=str(body.get("image")),
        image_driver=body.get("image_driver") or "docker",
        image_pull_policy=body.get("image_pull_policy") or None,
        command=_words(body.get("command"), request.version),
        cpu=float(body.get("cpu", DEFAULT_CPUS)),
        memory=mebibytes(body.get("memory", DEFAULT_MEMORY)),
        disk=as_integer(body.get("disk", 0)),
        environment={key: str(value) for key, value in body.get("environment", {}).items()},
        labels={key: str(value) for key, value in body.get("labels", {}).items()},
        workdir=body.get("workdir"),
        hostname=body.get("hostname"),
        interactive=interactive,
        tty=bool(as_boolean(tty)),
        auto_remove=bool(as_boolean(body.get("auto_remove", False))),
        restart_policy=policy,
        availability_zone=body.get("availability_zone"),
        security_groups=body.get("security_groups", ()),
        nets=body.get("nets", ()),
        mounts=body.get("mounts", ()),
    )


def change_of(request: Request, known: Mapping[str, Check]) -> Change:
    """Return the change that a request wants, of known fields. Raises ApiError 400."""
    body = described(request, known)
    cpu, requested_memory = body.get("cpu"), body.get("memory")
    return Change(
        name=body.get("name"),
        cpu=None if cpu is None else float(cpu),
        memory=None if requested_memory is None else mebibytes(requested_memory),
    )


def _words(value: Any, version: Version) -> list[str]:
    """Return a command as a list of words: older microversions have a string, newer ones a list.

    Raises: ApiError 400.
    """
    if value is None:
        return []
    if isinstance(value, list) != (version >= COMMAND_IS_LIST):
        expected_type = "array" if version >= COMMAND_IS_LIST else "string"
        raise bad_request(
            f"Invalid input for field 'command'. Value: {value}. It is not of type '{expected_type}'", SCHEMA
        )
    try:
        return [str(word) for word in value] if isinstance(value, list) else shlex.split(value)
    except ValueError as error:
        raise bad_request(f"Invalid input for field 'command'. Value: {value}. {error}") from None
