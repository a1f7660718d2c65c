"""What the parts of the operator's run share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.realcloud.lab import Account, Lab
from tools.realcloud.operators.installation import Installation, Servers
from tools.realcloud.operators.rows import Row


@dataclass(frozen=True)
class Place:
    """The lab, an installation that is registered in it, and a directory for files.

    `web` serves files by URL, and `selection` has the names of the rows that run in parts with independent ones.
    """

    lab: Lab
    servers: Servers
    installation: Installation
    home: Path
    web: str
    selection: re.Pattern[str]

    @property
    def user(self) -> Account:
        """A user with a role in one project."""
        return self.lab.accounts["operator"]


Part = Callable[[Place], Iterator[Row]]
