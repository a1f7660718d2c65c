"""The base class of requests, their form on the wire, and the entry of an operation in the table of operations.

On the wire a request is the name of a method and a JSON object of arguments. During a rolling upgrade, processes of two
neighboring releases call each other, so these rules hold:

- A field that a release adds has a default, which never changes, and has the metadata `ADDED`. Fields that have their
  default are not sent.
- A field that is renamed is sent under its former name, which the release before knows, and taken under both
  (`sent_as`); the next release sends it under its own. The same holds for a method (`RENAMED`).
- An engine refuses a method or an argument that it does not know, and an argument of another type. It must not ignore
  one: a request could then do something else than was asked (apply another plan, delete what was to be kept).
- A key that a release adds to an answer is `NotRequired`, and the API processes of that release do without it. They
  ignore keys that they do not know, and refuse an answer of another form (`AnswerMismatch`).

A newer API process can therefore use an older engine for all that the older release can do.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Generic, Literal, NotRequired, Required, Self, TypedDict, TypeVar, Union, is_typeddict

import msgspec

from stoker.base.context import RequestContext

ADDED: Mapping[str, str] = types.MappingProxyType({"added": "0.2.0"})
"""The metadata of a field that a release has added to a request."""


def sent_as(name: str) -> Mapping[str, str]:
    """Return the metadata of a field that is sent under another name, which the release before knows."""
    return types.MappingProxyType({_SENT_AS: name})


_SENT_AS = "sent_as"

RENAMED: Mapping[str, str] = types.MappingProxyType({"stack_create_with_settings": "stack_create_laid_down"})
"""The methods that are called by a former name, by their own, which the next release uses."""


def wire_name(item: Field[Any]) -> str:
    """Return the name under which a request's field is sent."""
    name: str = item.metadata.get(_SENT_AS, item.name)
    return name


Answer = TypeVar("Answer", covariant=True)
Engine = TypeVar("Engine")


class Problem(Enum):
    """What is wrong with a request that arrived."""

    UNKNOWN_METHOD = "unknown method"
    UNKNOWN_ARGUMENT = "unknown argument"
    MISSING_ARGUMENT = "missing argument"
    WRONG_TYPE = "argument of another type"


class RequestMismatch(Exception):
    """A request has another form than this release expects.

    `argument` is the path of the argument, with dots between the parts; it is empty for an unknown method.
    """

    def __init__(self, problem: Problem, method: str, argument: str = "", detail: str = "") -> None:
        name = f"{method}: {argument}" if argument else method
        super().__init__(f"{problem.value}: {name}{f' ({detail})' if detail else ''}")
        self.problem = problem
        self.method = method
        self.argument = argument


class Reference(TypedDict, total=False):
    """The stack that a request names: by name, ID or ARN (`name`), or by `id`; with both, they must match."""

    name: str | None
    id: str | None


def by_name(name: str) -> Reference:
    """Return the reference of a stack by its name, ID or ARN."""
    return {"name": name, "id": None}


class Request(Generic[Answer]):
    """A call of an engine. Subclasses are frozen dataclasses with keyword-only fields, the arguments.

    `Answer` is the type of the answer, which is JSON. `method` is the name on the wire.
    """

    method: ClassVar[str]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments as they are sent, as data: those that differ from their default."""
        return sent(self)

    def added_argument(self) -> str | None:
        """Return an argument that is sent, and that the first release does not know; None if there is none."""
        known: Any = self  # subclasses are dataclasses
        names = self.arguments()
        added = (wire_name(item) for item in fields(known) if item.metadata.keys() & ADDED)
        return next((name for name in added if name in names), None)

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Self:
        """Return the request that was sent. Raises RequestMismatch."""
        request: Self = _record(cls, arguments, cls.method, "")
        return request

    @classmethod
    def answered(cls, data: Any) -> Answer:
        """Return an answer as it arrived, which must have the type `Answer`; keys that a later release has added stay.

        Raises: ValueError with the path and the type that was expected; never with a value.
        """
        kind: Any = cls
        try:
            msgspec.convert(data, _structures(_answer_type(kind)))
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None
        answer: Answer = data
        return answer

    @classmethod
    def served_by(cls, operation: Callable[[Engine, RequestContext, Self], Awaitable[Answer]]) -> Operation[Engine]:
        """Return the entry of the table of operations: `operation` implements this request."""
        return Operation(cls.method, cls.from_arguments, operation)


@dataclass(frozen=True, kw_only=True)
class OfStack(Request[Answer]):
    """A request about the stack `ref`."""

    ref: Reference


@dataclass(frozen=True)
class Operation(Generic[Engine]):
    """How an engine implements a request; created by `Request.served_by`, which checks that the types match."""

    method: str
    decode: Callable[[Mapping[str, Any]], Any]
    run: Callable[[Engine, RequestContext, Any], Awaitable[Any]]

    async def __call__(self, engine: Engine, context: RequestContext, arguments: Mapping[str, Any]) -> Any:
        """Run the operation with arguments as they arrive. Raises RequestMismatch, or what the operation raises."""
        return await self.run(engine, context, self.decode(arguments))


def sent(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their default, nested dataclasses as data too."""
    found: dict[str, Any] = {}
    for item in fields(record):
        value = getattr(record, item.name)
        if item.default is MISSING or value != item.default:
            found[wire_name(item)] = sent(value) if is_dataclass(value) else value
    return found


Record = TypeVar("Record")


def received(kind: type[Record], data: Mapping[str, Any]) -> Record:
    """Return the dataclass whose fields `sent` returned. Raises RequestMismatch."""
    record: Record = _record(kind, data, kind.__name__, "")
    return record


def _record(kind: Any, data: Any, method: str, path: str) -> Any:
    """Check names and types of a dataclass's fields or a TypedDict's keys."""
    if not isinstance(data, Mapping):
        raise RequestMismatch(Problem.WRONG_TYPE, method, path.rstrip("."), "not an object")
    expected, required, attributes = _shape(kind)
    given: dict[str, str] = {}
    for name in data:
        attribute = attributes.get(name)
        if attribute is None or attribute in given:
            raise RequestMismatch(Problem.UNKNOWN_ARGUMENT, method, f"{path}{name}")
        given[attribute] = name
    for attribute, name in required.items():
        if attribute not in given:
            raise RequestMismatch(Problem.MISSING_ARGUMENT, method, f"{path}{name}")
    return kind(
        **{
            attribute: _value(expected[attribute], data[name], method, f"{path}{name}")
            for attribute, name in given.items()
        }
    )


def _value(expected: Any, value: Any, method: str, path: str) -> Any:
    if is_dataclass(expected) or is_typeddict(expected):
        return _record(expected, value, method, f"{path}.")
    try:
        return msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        raise RequestMismatch(Problem.WRONG_TYPE, method, path, str(error)) from None


@cache
def _answer_type(kind: type[Request[Any]]) -> Any:
    """The type that the nearest base class with a parameter gives to `Answer`."""
    for base in kind.__mro__:
        for declared in base.__dict__.get("__orig_bases__", ()):
            origin = typing.get_origin(declared)
            if isinstance(origin, type) and issubclass(origin, Request):
                [answer] = typing.get_args(declared)
                if not isinstance(answer, TypeVar):
                    return answer
    raise TypeError(f"{kind.__name__} does not say of which type its answer is")


@cache
def _structures(kind: Any) -> Any:
    """Return a type in which each TypedDict is a structure with the same keys, which costs half to make.

    What an answer is converted to is not used: it lacks the keys that a later release has added.
    """
    if is_typeddict(kind):
        return _structure(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is None or origin is Literal:
        return kind
    inside = tuple(_structures(each) for each in arguments)
    return Union[inside] if origin is types.UnionType else origin[inside]  # noqa: UP007  there may be any number


def _structure(kind: Any) -> type[msgspec.Struct]:
    """Make a structure whose fields have numbered names: keys need not be names in Python.

    The class itself does not know which keys may be missing where annotations were strings.
    """
    keys, written = typing.get_type_hints(kind), typing.get_type_hints(kind, include_extras=True)
    missing = {key for key in kind.__optional_keys__ if typing.get_origin(written[key]) is not Required}
    missing |= {key for key, hint in written.items() if typing.get_origin(hint) is NotRequired}
    names = {f"key{number}": key for number, key in enumerate(keys)}
    fields: list[Any] = [
        (name, _structures(keys[key]), None) if key in missing else (name, _structures(keys[key]))
        for name, key in names.items()
    ]
    return msgspec.defstruct(kind.__name__, fields, rename=names, kw_only=True, gc=False)


@cache
def _shape(kind: Any) -> tuple[Mapping[str, Any], Mapping[str, str], Mapping[str, str]]:
    """The types of a record's attributes; the names of the required ones, as they are sent; attributes by all names."""
    expected = typing.get_type_hints(kind)
    if is_typeddict(kind):
        return expected, {name: name for name in kind.__required_keys__}, {name: name for name in expected}
    items: tuple[Field[Any], ...] = fields(kind)
    required = {item.name: wire_name(item) for item in items if item.default is MISSING}
    return expected, required, {name: item.name for item in items for name in (item.name, wire_name(item))}
