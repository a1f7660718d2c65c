"""Errors of the DNS service, each with its type; what is wrong with the fields of an object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from openstack_emulator.core.errors import ApiError

Problem = dict[str, Any]


def missing(kind: str) -> Callable[[str], ApiError]:
    """Return what makes the 404 for an object of a kind, such as `Zone Transfer Request`."""
    name = f"{kind.lower().replace(' ', '_')}_not_found"
    return lambda key: ApiError(404, f"Could not find {kind.replace(' ', '')}", name)


def duplicate(kind: str) -> ApiError:
    """Return the 409 for an object whose name or place is taken."""
    return ApiError(409, f"Duplicate {kind}", f"duplicate_{kind.lower().replace(' ', '_')}")


def over_quota(limit: str) -> ApiError:
    """Return the 413 for what goes beyond a limit of the project."""
    return ApiError(413, f"Quota exceeded for {limit}.", "over_quota")


def problem(message: str, path: Sequence[str | int], validator: str, value: Any) -> Problem:
    """Return what is wrong at a place of an object: which validator failed, and what that was about."""
    return {"message": message, "path": list(path), "validator": validator, "validator_value": value}


def lacking(name: str) -> Problem:
    """Return that an object has not a field that is required."""
    return problem(f"'{name}' is a required property", [name, "records", 0], "required", [name])


def invalid_object(*problems: Problem) -> ApiError:
    """Return the 400 for an object that fails the checks of its fields with each other; it has no message."""
    error = ApiError(400, "", "invalid_object")
    if problems:
        error.details["errors"] = {"errors": list(problems)}
    return error
