"""JSON-patch documents (RFC 6902): their form, in the dialects of the services, and their effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from jsonpatch import JsonPatch, JsonPatchException
from jsonpointer import JsonPointer, JsonPointerException

from openstack_emulator.core.errors import ApiError, bad_request

OPERATIONS = ("add", "replace", "remove")
"""No service of the cloud accepts more: `copy`, with which a document could grow exponentially, is none of them."""
_FAILURES = (JsonPatchException, JsonPointerException, LookupError, TypeError, ValueError)
"""What the library raises for an operation that does not suit the document, such as an index of 5000 digits."""


class PatchProblem(Enum):
    """What is wrong with the form of a document."""

    BODY = auto()
    OPERATION = auto()
    OP = auto()
    PATH = auto()
    VALUE = auto()


Refusal = Callable[[Any, int], ApiError]
"""The error for a body and the index of the operation that is wrong (0 if it is the body)."""


_NEITHER = f"Each operation must be an object whose 'op' is one of {', '.join(OPERATIONS)}."
REFUSALS: Mapping[PatchProblem, Refusal] = {
    PatchProblem.BODY: lambda body, index: bad_request("The request body must be a JSON array of operations."),
    PatchProblem.OPERATION: lambda body, index: bad_request(_NEITHER),
    PatchProblem.OP: lambda body, index: bad_request(_NEITHER),
    PatchProblem.PATH: lambda body, index: bad_request(
        f"Invalid path {body[index].get('path')!r}: it must start with '/'."
    ),
    PatchProblem.VALUE: lambda body, index: bad_request("'add' and 'replace' operations need a value."),
}


@dataclass(frozen=True)
class Dialect:
    """What a service accepts as a patch, and how it refuses others.

    path: what a path matches completely. empty: a document without operations is right.
    """

    refusals: Mapping[PatchProblem, Refusal]
    operations: tuple[str, ...] = OPERATIONS
    path: re.Pattern[str] = re.compile(r"/.*", re.DOTALL)
    empty: bool = False


@dataclass(frozen=True)
class Operation:
    """One operation of a document.

    pointer: the members that the path names, without its escapes. value: None if the operation has none.
    """

    op: str
    path: str
    pointer: tuple[str, ...]
    value: Any


class PathNotFound(Exception):
    """An operation is about a place that the document does not have."""


def operations(body: object, dialect: Dialect) -> list[Operation]:
    """The operations of a body, whose form is checked. Raises ApiError, as the dialect says."""
    if not isinstance(body, list) or not (body or dialect.empty):
        raise dialect.refusals[PatchProblem.BODY](body, 0)
    return [_operation(body, index, dialect) for index in range(len(body))]


def _operation(body: list[object], index: int, dialect: Dialect) -> Operation:
    operation = body[index]
    if not isinstance(operation, Mapping):
        raise dialect.refusals[PatchProblem.OPERATION](body, index)
    op, path = operation.get("op"), operation.get("path")
    if op not in dialect.operations:
        raise dialect.refusals[PatchProblem.OP](body, index)
    if not isinstance(path, str) or dialect.path.fullmatch(path) is None:
        raise dialect.refusals[PatchProblem.PATH](body, index)
    try:
        pointer = tuple(JsonPointer(path).parts)
    except JsonPointerException:
        raise dialect.refusals[PatchProblem.PATH](body, index) from None
    if op != "remove" and "value" not in operation:
        raise dialect.refusals[PatchProblem.VALUE](body, index)
    return Operation(op, path, pointer, operation.get("value"))


def apply(document: dict[str, Any], operation: Operation) -> None:
    """Carry out an operation in a document. Raises Inapplicable."""
    patch = {"op": operation.op, "path": operation.path, "value": operation.value}
    try:
        JsonPatch([patch]).apply(document, in_place=True)
    except _FAILURES as error:
        raise PathNotFound from error
