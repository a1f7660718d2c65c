"""Constraints on property values, and the base class of custom constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_LENGTH = 255


class Constraint:
    """Base of the constraints that a property declares."""

    def __init__(self, description: str | None = None) -> None:
        self.description = description


class Range(Constraint):
    """A number between two inclusive bounds."""

    def __init__(self, min: Any = None, max: Any = None, description: str | None = None) -> None:
        super().__init__(description)
        self.min, self.max = min, max


class Length(Range):
    """The length of a string, list or map is between two inclusive bounds."""


class Modulo(Constraint):
    """A number with the remainder `offset` when divided by `step`."""

    def __init__(self, step: int | None = None, offset: int | None = None, description: str | None = None) -> None:
        super().__init__(description)
        self.step, self.offset = step or 1, offset or 0


class AllowedValues(Constraint):
    """One of the listed values."""

    def __init__(self, allowed: Sequence[object], description: str | None = None) -> None:
        super().__init__(description)
        self.allowed = tuple(allowed)


class AllowedPattern(Constraint):
    """A string that a regular expression matches completely."""

    def __init__(self, pattern: str, description: str | None = None) -> None:
        super().__init__(description)
        self.pattern = pattern


class CustomConstraint(Constraint):
    """A constraint that is implemented by a plug-in, by name."""

    def __init__(self, name: str, description: str | None = None, environment: object = None) -> None:
        super().__init__(description)
        self.name = name


class BaseCustomConstraint:
    """Base of custom constraints: override `validate_with_client`, or `validate`.

    `expected_exceptions` mean that the value is invalid. With `resource_client_name` and `resource_getter_name`, the
    method of this name of that client plug-in is called with the value.
    """

    expected_exceptions: tuple[type[BaseException], ...] = ()
    resource_client_name: str | None = None
    resource_getter_name: str | None = None
    _error_message: str | None = None

    def error(self, value: object) -> str:
        """Return why `value` is invalid."""
        if self._error_message is None:
            return f"Error validating value {str(value)!r}"
        return f"Error validating value {str(value)!r}: {self._error_message}"

    def validate(self, value: Any, context: Any, template: object = None) -> bool:
        """Return whether the value is valid."""
        try:
            self.validate_with_client(context.clients, value)
        except self._expected() as error:
            self._error_message = str(error)
            return False
        return True

    def validate_with_client(self, client: Any, resource_id: Any) -> None:
        """Raise one of `expected_exceptions` for an invalid value."""
        if self.resource_client_name and self.resource_getter_name:
            getattr(client.client_plugin(self.resource_client_name), self.resource_getter_name)(resource_id)

    def _expected(self) -> tuple[type[BaseException], ...]:
        from heat.common import exception

        expected = self.expected_exceptions
        return expected if expected else (exception.EntityNotFound, exception.PhysicalResourceNameAmbiguity)
