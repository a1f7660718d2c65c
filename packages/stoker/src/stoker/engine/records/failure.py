"""Failures with the path of the leaf resource: kind, path, the service's message."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from stoker.base.errors import Bug, StokerError
from stoker.base.json_text import dumps
from stoker.store.records import FAILED, Resource, ResourceSummary

_REASON = "reason"
"""The key of the digest of the reason that describes a resource's failure."""


@dataclass(eq=False)
class Failure(Exception):
    """A resource's action failed. `path` are the names from the current stack down to the leaf resource.

    It is empty if an operation failed for another reason, such as its timeout.

    Not frozen: context managers set attributes of the exceptions that pass through them.
    """

    kind: str
    path: tuple[str, ...]
    message: str

    @classmethod
    def of(cls, error: StokerError, name: str) -> Failure:
        """Return the failure of the resource `name` for an error."""
        if isinstance(error, Bug) and error.reference:
            return cls("InternalError", (name,), f"unexpected error; quote reference {error.reference}")
        return cls(error.kind, (name,), error.message)

    @classmethod
    def joined(cls, failures: Sequence[Failure]) -> Failure:
        """Return the first of several failures, whose message lists the others."""
        first, *others = failures
        return cls(first.kind, first.path, "; ".join([first.message, *(other.text() for other in others)]))

    @classmethod
    def of_operation(cls, reason: str) -> Failure:
        """Return the failure of an operation that has failed for another reason than a resource's failure."""
        return cls("ResourceFailure", (), reason)

    @classmethod
    def from_json(cls, text: str) -> Failure:
        """Return the failure that `to_json` or `with_reason` has written."""
        data = orjson.loads(text)
        return cls(data["kind"], tuple(data["path"]), data["message"])

    def _data(self) -> dict[str, Any]:
        """Return the failure as plain data."""
        return {"kind": self.kind, "path": list(self.path), "message": self.message}

    def to_json(self) -> str:
        """Return the failure as it is recorded with an operation."""
        return dumps(self._data()).decode()

    def with_reason(self, reason: str) -> str:
        """Return the failure as it is recorded with a resource whose reason describes it.

        An engine of the release before keeps it when it records another reason, so it is valid for this one only.
        """
        return dumps({**self._data(), _REASON: _digest(reason)}).decode()

    def path_json(self) -> str | None:
        """Return the path as it is recorded with an event; None if no resource has failed."""
        return dumps(self.path).decode() if self.path else None

    def bare(self) -> Failure:
        """Return the same failure without its traceback, whose frames hold the values of the step."""
        return Failure(self.kind, self.path, self.message)

    def text(self) -> str:
        """Return a status reason such as `NotFound: resources.group.resources[1].resources.server: No such flavor`."""
        return f"{self.kind}: {self._path_text()}: {self.message}"

    def _path_text(self) -> str:
        return ".".join(f"resources[{name}]" if name.isdigit() else f"resources.{name}" for name in self.path)


def failure_of_resource(row: Resource | ResourceSummary) -> Failure | None:
    """Return why a resource's last action has failed; None if it has not, or nothing but its reason is recorded."""
    if row.failure is None or row.status != FAILED or orjson.loads(row.failure)[_REASON] != _digest(row.reason):
        return None
    return Failure.from_json(row.failure)


def _digest(reason: str) -> str:
    return hashlib.blake2b(reason.encode(), digest_size=16).hexdigest()
