"""How Glance checks objects: each attribute by a JSON schema, whose problems the library `jsonschema` describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

from jsonschema import Draft4Validator
from referencing import Registry

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.objects import Dialect, Step
from openstack_emulator.core.validation.problems import Check, Problem, Reason, specific
from openstack_emulator.core.validation.sentences import JSON_SCHEMA

LONGEST = 65535
"""Characters that a string without a bound of its own may have."""


class Schema(TypedDict, total=False):
    """The JSON schema of an attribute, as Glance shows it. is_base: false for a property that users may remove."""

    type: str | list[str]
    description: str
    enum: Sequence[str | None]
    items: Schema
    maxLength: int
    minimum: int
    maximum: int
    pattern: str
    readOnly: bool
    is_base: bool


def validator_of(schema: Mapping[str, object]) -> Draft4Validator:
    """A validator that cannot fetch other schemas."""
    return Draft4Validator(schema, registry=Registry())


def attribute(name: str, validator: Draft4Validator) -> Check:
    """The value of an attribute that suits the schema of its object."""

    def check(value: object) -> Problem | None:
        for flaw in validator.iter_errors({name: value}):
            return specific(value, str(flaw))
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, str) and len(element) > LONGEST:
                return Problem(Reason.LONG, element, LONGEST)
        return None

    return check


def _refusal(kind: str, body: object, problem: Problem, words: str) -> ApiError:
    if problem.reason is Reason.TYPE:
        return bad_request("The request body must be a JSON object.")
    return bad_request(f"Provided object does not match schema '{kind}': {words}")


GLANCE = Dialect(
    (Step.MISSING, Step.FIELDS),
    _refusal,
    {
        **JSON_SCHEMA,
        Reason.UNKNOWN: lambda problem: f"Additional properties are not allowed ('{problem.expected[0]}')",
    },
)
"""The dialect of Glance. An object is called by the name of its schema."""


@dataclass(frozen=True)
class Form:
    """What an object may hold: attributes with a schema of their own each, and no others.

    kind: the name of the schema in messages. required: the attributes that must be there.
    """

    kind: str
    schemas: Mapping[str, Schema]
    required: tuple[str, ...]

    @cached_property
    def _checks(self) -> Mapping[str, Check]:
        validators = {name: validator_of({"properties": {name: schema}}) for name, schema in self.schemas.items()}
        return {name: attribute(name, validator) for name, validator in validators.items()}

    def checked(self, body: object) -> dict[str, Any]:
        """A body without what answers show and requests do not say. Raises: ApiError 400 for another body."""
        GLANCE.check(self.kind, body, self._checks, self.required)
        held = body if isinstance(body, Mapping) else {}
        return {name: value for name, value in held.items() if not self.schemas[name].get("readOnly")}
