"""Refusals of the service: what it says, and of what kind they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stoker.base.diagnostics import Diagnostic
from stoker.cli.terminal.errors import CommandFailed

if TYPE_CHECKING:
    pass


Answer = dict[str, Any]


class Refused(CommandFailed):
    """The service refused a request: with the kind of its error, such as `StackLocked`, if it is known.

    `diagnostics` are the problems of a template, with their locations.
    """

    def __init__(
        self, status: int, message: str, diagnostics: tuple[Diagnostic, ...] = (), kind: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.diagnostics = diagnostics
        self.kind = kind


def refusal_of(error: BaseException | None) -> Refused | None:
    """Return the refusal of the service that an error is, or was caused by; None if it is another error."""
    cause = error if isinstance(error, Refused) else getattr(error, "__cause__", None)
    return cause if isinstance(cause, Refused) else None


def refusal(response: Any) -> Refused:
    try:
        error = response.json()["error"]
        diagnostics = tuple(Diagnostic.from_dict(item) for item in error.get("diagnostics", ()))
        return Refused(response.status_code, error["message"], diagnostics, error.get("type"))
    except (ValueError, KeyError, TypeError):
        return Refused(response.status_code, f"The service returned {response.status_code} {response.reason}.")
