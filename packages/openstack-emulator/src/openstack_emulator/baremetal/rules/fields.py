"""Fields of objects: what requests may set them to, and the microversions that show them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Version
from openstack_emulator.core.validation.objects import Dialect, Step
from openstack_emulator.core.validation.problems import Check, Problem, Reason
from openstack_emulator.core.validation.sentences import JSON_SCHEMA

BOOLEANS = "'0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
TRAIT, NAME, MAC, STEPS = "trait", "name", "mac", "steps"
"""The formats that messages of their own name."""


def not_a_trait(title: str, value: object) -> str:
    """What is wrong with a name that is no trait."""
    return (
        f"Schema error for {title}: {value!r} is not valid under any of the given schemas. Possible root cause: "
        f"{value!r} does not match '^CUSTOM_[A-Z0-9_]+$'"
    )


_FORMATS: Mapping[str, Callable[[str, str, object], str]] = {
    NAME: lambda title, name, value: f"Cannot create {title} with invalid name '{value}'",
    MAC: lambda title, name, value: f"Expected valid MAC address for {name}: {value}",
    TRAIT: lambda title, name, value: not_a_trait("template", value),
    STEPS: lambda title, name, value: f"Schema error for template: {value!r} should be non-empty",
}


@dataclass(frozen=True)
class Field:
    """A field of an object.

    since: the microversion that shows it. check: what a request may set it to; without one, requests cannot set it.
    default: its value until a request sets it, and after one removes it. required: it cannot be removed.
    write_only: no answer has it. hidden: a value, and the microversion before which requests see null instead.
    """

    since: Version = (1, 1)
    check: Check | None = None
    default: Any = None
    required: bool = False
    write_only: bool = False
    hidden: tuple[Any, Version] | None = None

    def visible(self, version: Version, value: object) -> Any:
        """A value of the field as requests of a version see it."""
        return None if self.hidden is not None and value == self.hidden[0] and version < self.hidden[1] else value


@dataclass(frozen=True, eq=False)
class ObjectKind:
    """A kind of objects: its collection in URLs, its name in messages, and its fields.

    The last part of the path is the name of lists.

    brief: the fields that lists show unless the request asks for more.
    below: paths below an object that it links to, and the microversions that brought them.
    schema: what messages about values call the object, if not by its title; empty for not at all.
    """

    path: str
    title: str
    fields: Mapping[str, Field]
    brief: tuple[str, ...]
    below: Mapping[str, Version] = dataclass_field(default_factory=dict)
    schema: str | None = None

    @property
    def _schema_error(self) -> str:
        """The beginning of messages about wrong fields."""
        name = self.title if self.schema is None else self.schema
        return f"Schema error for {name}" if name else "Schema error"

    def values(self, version: Version, value: Any) -> dict[str, Any]:
        """The fields of a new object, as a request body describes it, with defaults. Raises ApiError 400 and 406."""
        if not isinstance(value, dict):
            raise bad_request("The request body must be a JSON object.")
        self.check(version, value, [name for name, field in self.fields.items() if field.required])
        return {name: default if value.get(name) is None else value[name] for name, default in self.defaults().items()}

    def defaults(self) -> dict[str, Any]:
        """The values of the fields that requests may set until one does."""
        return {
            name: copy.deepcopy(declaration.default)
            for name, declaration in self.fields.items()
            if declaration.check is not None
        }

    def check(self, version: Version, values: Mapping[str, object], required: Sequence[str] = ()) -> None:
        """Refuse fields that do not exist (400) or only in later versions (406), wrong and missing values (400)."""
        known = {name: field for name in values if (field := self.fields.get(name)) is not None}
        checks = {
            name: _since(version, field) for name, field in known.items() if field.check is not None or name == "uuid"
        }
        self._dialect.check(self.title, values, checks, required)

    @cached_property
    def _dialect(self) -> Dialect:
        return Dialect((Step.FIELDS, Step.MISSING), self._refusal, JSON_SCHEMA, null_is_missing=True)

    def _refusal(self, title: str, value: object, problem: Problem, words: str) -> ApiError:
        """The 400 for an object. The messages of some formats name neither the schema nor the field."""
        path, reason = problem.path, problem.reason
        if not path:
            return bad_request(f"{self._schema_error}: {words}")
        name = str(path[0])
        if reason is Reason.FORMAT and problem.expected in _FORMATS:
            return bad_request(_FORMATS[problem.expected](title, name, problem.value))
        if reason is Reason.BOOLEAN:
            words = f"Unrecognized value '{problem.value}', acceptable values are: {BOOLEANS}"
            return bad_request(f"Invalid {name}: {words}")
        if reason is Reason.TYPE and problem.expected[0] == "object":
            return bad_request(f"Schema error for {title}: {words}")
        return bad_request(f"{self._schema_error}: {name}: {words}")


def _since(version: Version, field: Field) -> Check:
    """The check of a field that null passes; it raises ApiError 406 in versions that do not have the field."""

    def check(value: Any) -> Problem | None:
        if version < field.since:
            raise ApiError(406, "Request not acceptable. The requested API version does not have this field.")
        return None if value is None or field.check is None else field.check(value)

    return check
