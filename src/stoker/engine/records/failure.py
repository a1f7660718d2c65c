"""Why something failed, on the path of the leaf resource: kind, path, the service's words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stoker.base.errors import Bug, StokerError

_TEXT = re.compile(
    r"(?:Resource [A-Z_]+ failed: )?(?P<kind>\w+): (?P<path>resources[.\[]\S*?): (?P<message>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Failure(Exception):
    """A resource's action failed. `path` is the names from the stack at hand down to the leaf."""

    kind: str
    path: tuple[str, ...]
    message: str

    @classmethod
    def of(cls, error: StokerError, name: str) -> Failure:
        """The failure of the resource `name` that an error means."""
        if isinstance(error, Bug) and error.reference:
            return cls("InternalError", (name,), f"unexpected error; quote reference {error.reference}")
        return cls(error.kind, (name,), error.message)

    def below(self, name: str) -> Failure:
        """The same failure seen from the stack that holds the nested stack as its resource `name`."""
        return Failure(self.kind, (name, *self.path), self.message)

    def text(self) -> str:
        """`NotFound: resources.group.resources[1].resources.server: No such flavor` (facts: engine.yaml, states)."""
        return f"{self.kind}: {self._path_text()}: {self.message}"

    def _path_text(self) -> str:
        return ".".join(f"resources[{name}]" if name.isdigit() else f"resources.{name}" for name in self.path)

    @classmethod
    def parse(cls, text: str) -> Failure | None:
        """The failure inside a stack's or a resource's reason; None when the reason has another form."""
        match = _TEXT.match(text)
        if match is None:
            return None
        names = re.findall(r"resources(?:\[([^\]]+)\]|\.([^.\[]+(?:\.(?!resources[.\[])[^.\[]+)*))", match["path"])
        return cls(match["kind"], tuple(index or name for index, name in names), match["message"])
