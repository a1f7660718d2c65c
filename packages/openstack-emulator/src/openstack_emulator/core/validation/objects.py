"""How the services check the fields of an object: in which order, and which error the first problem becomes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.converting import Converter, Invalid, T
from openstack_emulator.core.validation.problems import Check, Problem, Reason, wrong_type
from openstack_emulator.core.validation.sentences import JSON_SCHEMA, Sentences, sentence

Refusal = Callable[[str, object, Problem, str], ApiError]
"""Makes the error of where an object is, the object, its problem, and the sentence for that."""


class Step(Enum):
    """A part of the check of an object."""

    MISSING = auto()  # a field that is required
    UNKNOWN = auto()  # all fields that are not known, together
    VALUES = auto()  # each known field
    FIELDS = auto()  # each field; one that is not known is a problem of its own


@dataclass(frozen=True)
class Dialect:
    """How a service checks an object.

    order: the steps. refusal: makes the error. null_is_missing: a required field must not be null.
    """

    order: tuple[Step, ...]
    refusal: Refusal
    sentences: Sentences
    null_is_missing: bool = False

    def check(
        self,
        where: str,
        body: object,
        checks: Mapping[str, Check],
        required: Collection[str] = (),
        strict: bool = True,
    ) -> None:
        """Refuse an object with a wrong field.

        where: what the object is called in the message. checks: the check of each known field; a `strict` object has
        no others.

        Raises: ApiError 400.
        """
        if (problem := self.problem(body, checks, required, strict)) is not None:
            raise self.error(where, body, problem)

    def problem(
        self, body: object, checks: Mapping[str, Check], required: Collection[str] = (), strict: bool = True
    ) -> Problem | None:
        """The first problem of an object; see `check`."""
        return next(self._problems(body, checks, required, strict), None)

    def error(self, where: str, body: object, problem: Problem) -> ApiError:
        """The error for a problem of an object."""
        return self.refusal(where, body, problem, sentence(problem, self.sentences))

    def converted(self, where: str, value: object, convert: Converter[T]) -> T:
        """A value in its normal form. where: what the message calls it. Raises: ApiError for an invalid one."""
        try:
            return convert(value)
        except Invalid as error:
            raise self.error(where, value, error.problem) from None

    def _problems(
        self, body: object, checks: Mapping[str, Check], required: Collection[str], strict: bool
    ) -> Iterator[Problem]:
        if not isinstance(body, dict):
            yield wrong_type(body, "object")
            return
        for step in self.order:
            if step is Step.MISSING:
                yield from (Problem(Reason.MISSING, body, name) for name in required if self._lacks(body, name))
            elif step is Step.UNKNOWN:
                if strict and (unknown := tuple(name for name in body if name not in checks)):
                    yield Problem(Reason.UNKNOWN, body, unknown)
            else:
                yield from _values(body, checks, strict and step is Step.FIELDS)

    def _lacks(self, body: Mapping[str, object], name: str) -> bool:
        return body.get(name) is None if self.null_is_missing else name not in body


def _values(body: Mapping[str, object], checks: Mapping[str, Check], strict: bool) -> Iterator[Problem]:
    for name, value in body.items():
        if name in checks:
            if (problem := checks[name](value)) is not None:
                yield problem.within(name)
        elif strict:
            yield Problem(Reason.UNKNOWN, body, (name,))


def value_at(value: Any, path: tuple[str | int, ...]) -> object:
    """The part of an object to which a path leads."""
    for key in path:
        value = value[key]
    return value


def invalid(name: str, value: Any, problem: str) -> ApiError:
    """The 400 of Cinder, Keystone, Manila and Nova for a field that fails its check."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: {value}. {problem}")


def named(where: str, body: object, problem: Problem, words: str) -> ApiError:
    """A refusal that names the innermost part with the problem."""
    return invalid(str(problem.path[-1]) if problem.path else where, value_at(body, problem.path), words)


NOVA = Dialect((Step.MISSING, Step.FIELDS), named, JSON_SCHEMA)
"""The dialect of Cinder, Manila and Nova."""


def check_fields(
    body: object,
    checks: Mapping[str, Check],
    required: Collection[str] = (),
    where: str = "body",
    strict: bool = True,
) -> None:
    """Refuse an object as Nova does; see `Dialect.check`. Raises ApiError 400."""
    NOVA.check(where, body, checks, required, strict)
