"""The version of the tables: bringing it up to date, and whether a database's fits this program.

Revisions are numbered, one for a release that changes tables. A revision only adds to what its predecessor has (and
takes away what the predecessor's program had stopped using), so a program works with the revision it was released
with and with the next one. That is what lets two releases share a database while processes are replaced one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from stoker.base.errors import Invalid

_MIGRATIONS = Path(__file__).parent / "migrations"
NEWER = 1
"""How many revisions newer than its own a program works with."""


class Fit(Enum):
    """How a database's tables suit this program."""

    EXACT = "the tables are those of this release"
    NEWER = "the tables are those of the next release, which this one works with"
    EMPTY = "there are no tables; run `stoker db sync`"
    OLDER = "the tables are of an earlier release; run `stoker db sync`"
    TOO_NEW = "the tables are of a release too new for this one; upgrade this program"

    @property
    def good(self) -> bool:
        """Whether this program can work with the database."""
        return self in (Fit.EXACT, Fit.NEWER)


@dataclass(frozen=True, slots=True)
class Versions:
    """Revisions of the tables: the database's, None when it has none, and this program's."""

    database: str | None
    program: str

    @property
    def fit(self) -> Fit:
        """How they suit each other."""
        if self.database is None:
            return Fit.EMPTY
        ahead = int(self.database) - int(self.program)
        if ahead == 0:
            return Fit.EXACT
        if ahead < 0:
            return Fit.OLDER
        return Fit.NEWER if ahead <= NEWER else Fit.TOO_NEW


def versions(connection: Connection) -> Versions:
    """The database's revision beside this program's."""
    program = ScriptDirectory(str(_MIGRATIONS)).get_current_head()
    assert program is not None
    return Versions(MigrationContext.configure(connection).get_current_revision(), program)


def require_fit(connection: Connection) -> None:
    """Raise Invalid, saying what to do, when this program cannot work with the database's tables."""
    found = versions(connection)
    if not found.fit.good:
        there = found.database or "none"
        raise Invalid(
            f"The database does not fit this release (its revision: {there}, ours: {found.program}): {found.fit.value}."
        )


def upgrade(connection: Connection) -> None:
    """Bring the tables up to this program's revision. Newer ones are left as they are, or refused with Invalid."""
    fit = versions(connection).fit
    if fit is Fit.TOO_NEW:
        require_fit(connection)
    if fit in (Fit.EMPTY, Fit.OLDER):
        command.upgrade(migrations(connection), "head")


def migrations(connection: Connection) -> Config:
    """What alembic needs to work on the connection."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config
