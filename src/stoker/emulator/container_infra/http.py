"""The bodies of requests, and the fields that several kinds of objects have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.emulator.core import fields
from stoker.emulator.core.errors import bad_request
from stoker.emulator.core.http import Request

TEXT = fields.nullable(fields.text())
FLAG = fields.nullable(fields.boolean)
NUMBER = fields.nullable(fields.integer(1))


def labels(value: Any) -> str | None:
    """Labels: an object whose values are strings, numbers or booleans."""
    good = isinstance(value, dict) and all(isinstance(one, str | int | float | bool) for one in value.values())
    return None if good else f"{value!r} is not a map of strings"


LABELS = fields.nullable(labels)


def given(request: Request, known: Mapping[str, fields.Check], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the fields of a request's body that are not null; integers, booleans and labels are converted.

    Raises: ApiError 400.
    """
    body = request.json
    if isinstance(body, dict) and (unknown := sorted(body.keys() - known.keys())):
        raise bad_request(f"Unknown attribute: {unknown[0]}")
    fields.check_fields(body, known)
    found = {name: converted(known[name], value) for name, value in body.items() if value is not None}
    for name in required:
        if name not in found:
            raise bad_request(f"Invalid input for field/attribute {name}. Mandatory field missing.")
    return found


def converted(check: fields.Check, value: Any) -> Any:
    """Return a checked value in the type of its field."""
    if check in (FLAG, fields.boolean) and value is not None:
        return fields.as_boolean(value)
    if check is LABELS and value is not None:
        return {key: str(one) for key, one in value.items()}
    if check in NUMBERS and value is not None:
        return fields.as_integer(value)
    return value


COUNT = fields.nullable(fields.integer(0))
NUMBERS = (NUMBER, COUNT)
