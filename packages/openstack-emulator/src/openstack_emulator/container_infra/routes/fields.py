"""The bodies of requests and errors, with Magnum's messages, and the fields that several kinds of objects have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.microversions import version_text
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean, as_integer
from openstack_emulator.core.validation.objects import Dialect, Step, value_at
from openstack_emulator.core.validation.problems import Check, Problem, Reason, specific, wrong_type
from openstack_emulator.core.validation.sentences import WSME, sentence


def _as_it_is(value: object) -> Any:
    return value


@dataclass(frozen=True)
class Field:
    """A field of a request: the check of its value, and what reads a valid one in the type of the field."""

    check: Check
    read: Callable[[Any], Any] = _as_it_is

    @cached_property
    def optional(self) -> Check:
        """The check of a value that may be null."""
        return fields.optional(self.check)


def _labels(value: object) -> Problem | None:
    """An object whose values are strings, numbers or booleans."""
    if not isinstance(value, dict):
        return wrong_type(value, "object")
    strings = all(isinstance(text, str | int | float | bool) for text in value.values())
    return None if strings else specific(value, f"Value not a valid string: {value}")


def _names(value: object) -> Problem | None:
    """A list of strings."""
    good = isinstance(value, list) and all(isinstance(text, str) for text in value)
    return None if good else wrong_type(value, "array")


def integer(minimum: int, maximum: int | None = None) -> Field:
    """An integer, or a string of one."""
    return Field(fields.integer(minimum, maximum), as_integer)


def text(pattern: str | None = None, longest: int | None = None, shortest: int = 0) -> Field:
    """A string that a pattern matches completely."""
    return Field(fields.text(shortest, longest, pattern))


def one_of(*words: str) -> Field:
    """One of some words."""
    return Field(fields.one_of(*words))


FLAG = Field(fields.boolean, as_boolean)
LABELS = Field(_labels, lambda value: {key: str(label) for key, label in value.items()})
NAMES = Field(_names)
TEXT, NUMBER, COUNT = text(), integer(1), integer(0)


def _number(problem: Problem) -> str:
    return f"invalid literal for int() with base 10: {problem.value!r}"


def _type(problem: Problem) -> str:
    kind = problem.expected[0]
    if kind == "integer":
        return _number(problem)
    return WSME[Reason.TYPE](problem) if kind == "string" else f"Value not a valid {_TYPES[kind]}: {problem.value}"


_TYPES = {"object": "dict", "array": "list"}
_SENTENCES = {
    **WSME,
    Reason.TYPE: _type,
    Reason.DIGITS: _number,
    Reason.PATTERN: lambda problem: f"Value should match the pattern ^{problem.expected}$",
    Reason.BOOLEAN: lambda problem: (
        f"Unrecognized value '{problem.value}', acceptable values are: '0', '1', 'f', 'false', 't', 'true'"
    ),
}


def invalid(name: str, value: Any, problem: object) -> ApiError:
    """Return the 400 for a wrong value of a field, or for an argument that cannot be read."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")


def missing(name: str) -> ApiError:
    """Return the 400 for a request without a field that it needs."""
    return invalid(name, None, "Mandatory field missing.")


def _unreadable(problem: Problem) -> bool:
    """Whether a value is not of its type, so that the object cannot be read at all."""
    no_string = problem.reason is Reason.TYPE and problem.expected[0] != "string"
    return no_string or problem.reason in (Reason.DIGITS, Reason.BOOLEAN, Reason.SPECIFIC)


def _refusal(argument: str, body: object, problem: Problem, words: str) -> ApiError:
    if problem.reason is Reason.UNKNOWN:
        return bad_request(f"Unknown attribute for argument {argument}: {', '.join(sorted(problem.expected))}")
    if problem.reason is Reason.MISSING:
        return missing(problem.expected)
    if not problem.path:
        return invalid(argument, body, "Value not a valid object")
    if _unreadable(problem):
        return invalid(argument, body, words)
    return invalid(str(problem.path[-1]), value_at(body, problem.path), words)


_MAGNUM = Dialect((Step.UNKNOWN, Step.VALUES, Step.MISSING), _refusal, _SENTENCES, null_is_missing=True)


def fields_of(
    request: Request, argument: str, known: Mapping[str, Field], required: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the fields of a request's body that are not null, in their types.

    argument: what the service calls the body.

    Raises: ApiError 400.
    """
    body = request.json
    checks = {name: field.optional for name, field in known.items()}
    _MAGNUM.check(argument, body, checks, required)
    return {name: known[name].read(value) for name, value in body.items() if value is not None}


def changed(name: str, value: Any, field: Field) -> Any:
    """Return the value that a patch gives a field, in the type of the field. Raises ApiError 400."""
    if (problem := field.check(value)) is not None:
        raise invalid(name, value, sentence(problem, _SENTENCES))
    return field.read(value)


class _NoAction(ApiError):
    """A request for what its microversion does not have."""

    names_versions = False

    def __init__(self, request: Request, action: str) -> None:
        super().__init__(
            406,
            f"Version {version_text(request.version)} was requested but the requested API {action} is not supported "
            "for this version.",
            kind="",
        )


def since(request: Request, least: tuple[int, int], action: str) -> None:
    """Refuse what a microversion does not have. Raises ApiError 406."""
    if request.version < least:
        raise _NoAction(request, action)
