"""Validation of requests: fields as data, errors with the messages of JSON schema validators, as Keystone's are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.urls import split_url
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import Dialect, Step, invalid, value_at
from openstack_emulator.core.validation.problems import Check, Problem, Reason, wrong_type
from openstack_emulator.core.validation.sentences import JSON_SCHEMA, KEYSTONE_BOOLEANS
from openstack_emulator.identity.rules.times import parse_time

ABSENT = object()
GENERATED = frozenset({"id", "links"})
"""Fields that answers show; clients send them back and nothing is made of them."""


@dataclass(frozen=True)
class Field:
    """One field of a request: what it must be, whether it must be there, and what it is when it is not there."""

    check: Check
    required: bool = False
    default: Any = ABSENT


Fields = Mapping[str, Field]


def _refusal(where: str, body: object, problem: Problem, words: str) -> ApiError:
    """The 400 for an object; it names the innermost field with the problem, never a member of a list."""
    if path := problem.field_path:
        return invalid(".".join(map(str, path)), value_at(body, path), words)
    if problem.reason is Reason.MISSING and where:
        return invalid(where, body, words)
    return bad_request(words)


KEYSTONE = Dialect(
    (Step.FIELDS, Step.MISSING),
    _refusal,
    {**JSON_SCHEMA, Reason.BOOLEAN: lambda problem: f"{problem.value!r} is not one of {KEYSTONE_BOOLEANS}"},
)


def checked(
    known: Fields,
    body: Mapping[str, object],
    extra: bool = False,
    partial: bool = False,
    where: str = "",
    quotation: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """The values of a request with defaults filled in.

    where: what the request is called in errors: `project`.
    quotation: the request as errors quote it; `body` by default.
    extra: whether other attributes are kept. partial: a change, where nothing is required and nothing filled in.
    Raises: ApiError 400.
    """
    values = {name: value for name, value in body.items() if name not in GENERATED or name in known}
    required = () if partial else [name for name, field in known.items() if field.required]
    problem = KEYSTONE.problem(values, {name: field.check for name, field in known.items()}, required, strict=not extra)
    if problem is not None:
        quoted = body if quotation is None else quotation
        raise KEYSTONE.error(where, values if problem.path else dict(quoted), problem)
    for name in values.keys() - known.keys():
        if name.startswith("_"):
            raise invalid(name, name, "names of attributes cannot begin with an underscore")
    if partial:
        return values
    filled = {name: field.default for name, field in known.items() if field.default is not ABSENT}
    return {**filled, **values}


def text(minimum: int = 0, maximum: int = 65_535) -> Check:
    """A string of so many characters, not only of spaces if it must not be empty."""
    plain = fields.text(minimum, maximum)

    def check(value: Any) -> Problem | None:
        problem = plain(value)
        if problem is None and minimum and not value.strip():
            return Problem(Reason.SHORT, value, minimum)
        return problem

    return check


def listing(check: Check, maximum: int = 1000) -> Check:
    """A list without repeats of values that pass a check."""
    return fields.items(check, maximum, unique=True)


def url(value: object) -> Problem | None:
    """An absolute URL; `%(project_id)s` and the like may stand in it."""
    if not isinstance(value, str):
        return wrong_type(value, "string")
    parts = split_url(value)
    return None if parts.scheme and parts.netloc else Problem(Reason.FORMAT, value, "uri")


def tag(value: Any) -> Problem | None:
    """A project's tag."""
    problem = text(1, 255)(value)
    if problem is None and re.search("[,/]", value):
        return Problem(Reason.PATTERN, value, "[^,/]*")
    return problem


name = text(1, 255)
short_name = text(1, 64)
identifier = text(1, 64)
hex_identifier = fields.text(pattern="[0-9a-fA-F]{32}")
description = fields.optional(text())
tags = listing(tag, maximum=80)


def moment(value: Any) -> Problem | None:
    """A time of day in ISO 8601."""
    good = isinstance(value, str) and parse_time(value) is not None
    return None if good else Problem(Reason.FORMAT, value, "date-time")
