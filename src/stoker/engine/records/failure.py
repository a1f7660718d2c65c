"""Failures with the path of the leaf resource: kind, path, the service's message."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stoker.base.errors import Bug, StokerError

_TEXT = re.compile(
    r"(?:Resource [A-Z_]+ failed: )?(?P<kind>\w+): (?P<path>resources[.\[]\S*?): (?P<message>.*)", re.DOTALL
)


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

    def bare(self) -> Failure:
        """Return the same failure without its traceback, whose frames hold the values of the step."""
        return Failure(self.kind, self.path, self.message)

    def below(self, name: str) -> Failure:
        """Return the failure for the parent of the nested stack, whose resource is `name`."""
        return Failure(self.kind, (name, *self.path), self.message)

    def text(self) -> str:
        """Return a status reason such as `NotFound: resources.group.resources[1].resources.server: No such flavor`."""
        return f"{self.kind}: {self._path_text()}: {self.message}"

    def _path_text(self) -> str:
        return ".".join(f"resources[{name}]" if name.isdigit() else f"resources.{name}" for name in self.path)

    @classmethod
    def parse(cls, text: str) -> Failure | None:
        """Return the failure in a stack's or a resource's status reason; None if the reason has another format."""
        match = _TEXT.match(text)
        if match is None:
            return None
        names = re.findall(r"resources(?:\[([^\]]+)\]|\.([^.\[]+(?:\.(?!resources[.\[])[^.\[]+)*))", match["path"])
        return cls(match["kind"], tuple(index or name for index, name in names), match["message"])
