"""Bodies of requests as data: their fields, with the check of each, and what is read of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.validation.fields import optional
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.loadbalancer.routes import checks


@dataclass(frozen=True)
class Field:
    """A field of a request.

    fixed: it is set at creation only. read: converts a value that passes the check, such as the string of a number.
    """

    check: Check
    default: Any = None
    required: bool = False
    fixed: bool = False
    read: Callable[[Any], Any] = lambda value: value

    def value(self, data: Any) -> Any:
        """What a field is that a request gives, or does not (None)."""
        return copy.copy(self.default) if data is None else data


@dataclass(frozen=True, eq=False)
class Form:
    """What requests may say of a kind of objects.

    member: the key around the object. argument: what messages call the whole body; `member` unless it has a name of its
    own.
    """

    member: str
    fields: Mapping[str, Field]
    argument: str = ""

    @cached_property
    def _checks(self) -> dict[str, Check]:
        return {name: optional(field.check) for name, field in self.fields.items()}

    def body(self, request: Request) -> dict[str, Any]:
        """The object in the body of a request. Raises ApiError 400."""
        body = request.json
        for name in body if isinstance(body, dict) else ():
            if name != self.member:
                raise self.unknown(name)
        return request.object(self.member)

    def unknown(self, name: str, *within: str) -> ApiError:
        """The 400 for a name that is not known at a place of the body."""
        where = ".".join((self.argument or self.member, *within))
        return bad_request(f"Unknown attribute for argument {where}: {name}")

    def values(self, body: Any) -> dict[str, Any]:
        """The fields of a new object, defaults included. Raises ApiError 400."""
        checked = self.checked(body)
        checks.COMPLETE.check(self.member, checked, {}, [name for name, field in self.fields.items() if field.required])
        return {name: field.value(checked.get(name)) for name, field in self.fields.items()}

    def changes(self, body: object) -> dict[str, Any]:
        """The fields that an update sets; null resets one to its default. Raises ApiError 400."""
        checked = self.checked(body)
        for name in checked:
            if self.fields[name].fixed:
                raise self.unknown(name, self.member)
        return {name: self.fields[name].value(value) for name, value in checked.items()}

    def checked(self, body: Any) -> dict[str, Any]:
        """The given fields. Raises ApiError 400 for an unknown field or a wrong value."""
        checks.GIVEN.check(f"{self.argument or self.member}.{self.member}", body, self._checks)
        return {name: None if value is None else self.fields[name].read(value) for name, value in body.items()}
