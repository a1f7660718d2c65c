"""Failures with the path of the leaf resource: kind, path, the service's message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from stoker.base.errors import Bug, StokerError
from stoker.base.json_text import dumps


@dataclass(eq=False)
class Failure(Exception):
    """A resource's action failed. `path` are the names from the current stack down to the leaf resource.

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
    def from_json(cls, text: str) -> Failure:
        """Return the failure that `to_json` has written."""
        data = orjson.loads(text)
        return cls(data["kind"], tuple(data["path"]), data["message"])

    def to_json(self) -> str:
        """Return the failure as it is recorded with an operation."""
        return dumps({"kind": self.kind, "path": self.path, "message": self.message}).decode()

    def path_json(self) -> str:
        """Return the path as it is recorded with an event."""
        return dumps(self.path).decode()

    def bare(self) -> Failure:
        """Return the same failure without its traceback, whose frames hold the values of the step."""
        return Failure(self.kind, self.path, self.message)

    def text(self) -> str:
        """Return a status reason such as `NotFound: resources.group.resources[1].resources.server: No such flavor`."""
        return f"{self.kind}: {self._path_text()}: {self.message}"

    def _path_text(self) -> str:
        return ".".join(f"resources[{name}]" if name.isdigit() else f"resources.{name}" for name in self.path)
