"""Fields of objects: what requests may set them to, and the microversions that show them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Version


class Whole(str):
    """What is wrong with a value, as the whole message, with `{title}` of the object and `{name}` of the field."""


@dataclass(frozen=True)
class Field:
    """A field of an object.

    since: the microversion that shows it. check: what a request may set it to; without one, requests cannot set it.
    default: its value until a request sets it, and after one removes it. required: it cannot be removed.
    write_only: no answer has it. hidden: a value, and the microversion before which requests see null instead.
    """

    since: Version = (1, 1)
    check: fields.Check | None = None
    default: Any = None
    required: bool = False
    write_only: bool = False
    hidden: tuple[Any, Version] | None = None

    def visible(self, version: Version, value: Any) -> Any:
        """A value of the field as requests of a version see it."""
        return None if self.hidden is not None and value == self.hidden[0] and version < self.hidden[1] else value


@dataclass(frozen=True, eq=False)
class Kind:
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

    def values(self, version: Version, given: Any) -> dict[str, Any]:
        """The fields of a new object, as a request body describes it, with defaults. Raises ApiError 400 and 406."""
        if not isinstance(given, dict):
            raise bad_request("The request body must be a JSON object.")
        self.check(version, given)
        for name, field in self.fields.items():
            if field.required and given.get(name) is None:
                raise bad_request(f"{self._schema_error}: '{name}' is a required property")
        return {name: default if given.get(name) is None else given[name] for name, default in self.defaults().items()}

    def defaults(self) -> dict[str, Any]:
        """The values of the fields that requests may set until one does."""
        return {name: copy.deepcopy(one.default) for name, one in self.fields.items() if one.check is not None}

    def check(self, version: Version, given: Mapping[str, Any]) -> None:
        """Refuse fields that do not exist (400), or only in a later version (406), and wrong values (400)."""
        for name, value in given.items():
            field = self.fields.get(name)
            if field is None or (field.check is None and name != "uuid"):
                raise bad_request(
                    f"{self._schema_error}: Additional properties are not allowed ('{name}' was unexpected)"
                )
            if version < field.since:
                raise ApiError(406, "Request not acceptable. The requested API version does not have this field.")
            if value is not None and field.check is not None and (problem := field.check(value)) is not None:
                raise self.refused(name, problem)

    def refused(self, name: str, problem: str) -> ApiError:
        """The 400 for a wrong value of a field."""
        if isinstance(problem, Whole):
            return bad_request(problem.replace("{title}", self.title).replace("{name}", name))
        return bad_request(f"{self._schema_error}: {name}: {problem}")
