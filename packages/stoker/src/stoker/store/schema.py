"""The version of the database's tables: upgrades, and the compatibility of a database with this program.

The history of the tables is append-only: a released revision file never changes, and a change to the tables is a new
revision. A revision only adds to its predecessors. Tables and columns that programs no longer use are removed by a
later revision, which declares this with `OLDEST_PROGRAM`: the revision of the oldest program that works with the new
tables. The database records the latest of these declarations, so that programs without the later revisions can
determine whether they are compatible. This lets two releases share a database during a rolling upgrade.

Release 0.1.0 reads `alembic_version` instead, which therefore stays at the revision of that release as long as it is
compatible with the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, MetaData, String, Table, create_engine, delete, insert, inspect, select, text

from stoker.base.errors import Invalid
from stoker.store.tables import metadata

if TYPE_CHECKING:
    from alembic.config import Config

# alembic is imported where tables are upgraded: it takes a tenth of the time in which an engine starts, and the tables
# of most databases are those of the release.

VERSION_TABLE = "schema_revision"
"""The table in which alembic keeps the revision of the tables."""

_MIGRATIONS = Path(__file__).parent / "migrations"
_DECLARED = re.compile(r'^OLDEST_PROGRAM = "(\d+)"$', re.MULTILINE)
_FIRST_RELEASE = "0001"
"""The revision of release 0.1.0."""
_SQLITE = "sqlite"

_version_metadata = MetaData()
_revisions = Table(VERSION_TABLE, _version_metadata, Column("version_num", String(32), primary_key=True))
_compatibility = Table(
    "schema_compatibility", _version_metadata, Column("oldest_program", String(32), primary_key=True)
)
_first_revisions = Table("alembic_version", _version_metadata, Column("version_num", String(32), primary_key=True))

_OLDEST_SERVERS = {"mysql": ("MySQL", (8, 0, 4)), "mariadb": ("MariaDB", (10, 6))}
"""The versions since which servers make tables of JSON (`JSON_TABLE`) and pass over locked rows (`SKIP LOCKED`)."""

Shape = Mapping[str, frozenset[str]]
"""The names of columns, by table."""


class Compatibility(Enum):
    """The compatibility of a database's tables with this program."""

    EXACT = "the tables are those of this release"
    NEWER = "the tables are those of a later release, which is compatible with this one"
    EMPTY = "there are no tables; run `stoker db sync`"
    OLDER = "the tables are of an earlier release; run `stoker db sync`"
    TOO_NEW = "the tables are of a later release that is not compatible with this one; upgrade this program"
    UNRELEASED = (
        "the tables were made by a development build from before release 0.1.0, and cannot be upgraded. Delete or "
        "abandon its stacks with that build, then start with an empty database (an embedded Stoker: with another "
        "--data-dir)"
    )

    @property
    def usable(self) -> bool:
        """Whether this program can use the database."""
        return self in (Compatibility.EXACT, Compatibility.NEWER)


@dataclass(frozen=True, slots=True)
class Versions:
    """Revisions of the tables: the database's (None when it has none) and this program's.

    `oldest` is the oldest program that can use the database; `missing` are the tables and columns of the database's
    revision that it does not have.
    """

    database: str | None
    program: str
    oldest: str = _FIRST_RELEASE
    missing: tuple[str, ...] = ()

    @property
    def compatibility(self) -> Compatibility:
        """The compatibility of the database with this program."""
        if self.database is None:
            return Compatibility.EMPTY
        if self.missing:
            return Compatibility.UNRELEASED
        if self.database == self.program:
            return Compatibility.EXACT
        if int(self.database) < int(self.program):
            return Compatibility.OLDER
        return Compatibility.NEWER if int(self.program) >= int(self.oldest) else Compatibility.TOO_NEW

    def problem(self) -> str:
        """Return why the database is not compatible, and what to do about it."""
        missing = f", without {', '.join(self.missing[:3])}" if self.missing else ""
        return (
            f"The database does not fit this release (its revision: {self.database or 'none'}{missing}; "
            f"this program: {self.program}): {self.compatibility.value}."
        )


def versions(connection: Connection) -> Versions:
    """Return the database's revision and this program's, and what tables and columns the database lacks."""
    recorded = _recorded_versions(connection)
    if recorded.database is None:
        return recorded
    return replace(recorded, missing=tuple(_missing(connection, recorded.database, recorded.program)))


def _recorded_versions(connection: Connection) -> Versions:
    """Return the revisions alone: to compare all tables and columns takes ten times as long."""
    tables = set(inspect(connection).get_table_names())
    database = _recorded(connection, _revisions, tables) or _recorded(connection, _first_revisions, tables)
    return Versions(database, head(), _recorded(connection, _compatibility, tables) or _FIRST_RELEASE)


def require_server(connection: Connection) -> None:
    """Raise Invalid when the server is of a version that lacks what the statements use."""
    dialect = connection.dialect
    name = "mariadb" if getattr(dialect, "is_mariadb", False) else dialect.name
    version = dialect.server_version_info or ()
    product, oldest = _OLDEST_SERVERS.get(name, (name, ()))
    if version < oldest:
        installed, needed = (".".join(map(str, numbers)) for numbers in (version, oldest))
        raise Invalid(f"[database] connection: the server is {product} {installed}; upgrade it to {needed} or later.")


def require_fit(connection: Connection) -> None:
    """Raise Invalid, with instructions, when this program cannot use the database's server or tables."""
    require_server(connection)
    current = versions(connection)
    if not current.compatibility.usable:
        raise Invalid(current.problem())


def require_not_later(connection: Connection) -> None:
    """Raise Invalid when a later release has upgraded the tables.

    A cluster runs engines of two releases at a time during an upgrade; an embedded Stoker never does, so there it means
    that an earlier release was installed.
    """
    recorded = _recorded_versions(connection)
    if recorded.compatibility in (Compatibility.NEWER, Compatibility.TOO_NEW):
        raise Invalid(
            f"A later release of Stoker has used this database (its revision: {recorded.database}; this program: "
            f"{recorded.program}), and there is no way back to an earlier one. Install the later release again, or "
            "restore the copy of the data directory from before the upgrade. Nothing was changed."
        )


def upgrade(connection: Connection) -> None:
    """Upgrade the tables to this program's revision. Newer tables are not changed.

    Raises Invalid for tables that are too new, or that no release has created, and for a server that is too old.
    """
    require_server(connection)
    current = versions(connection)
    if current.compatibility in (Compatibility.TOO_NEW, Compatibility.UNRELEASED):
        raise Invalid(current.problem())
    if current.compatibility is Compatibility.EMPTY and connection.dialect.name == _SQLITE:
        _create(connection)
    elif current.compatibility in (Compatibility.EMPTY, Compatibility.OLDER):
        _migrate(connection, current.database)
    else:
        return
    oldest = max(_oldest_programs(), default=_FIRST_RELEASE, key=int)
    _record(connection, _compatibility, "oldest_program", oldest)
    _record(connection, _first_revisions, "version_num", oldest if oldest == _FIRST_RELEASE else current.program)


def _migrate(connection: Connection, revision: str | None) -> None:
    """Run the revisions after `revision`."""
    from alembic import command

    _version_metadata.create_all(connection)
    if revision is not None and _recorded(connection, _revisions, {VERSION_TABLE}) is None:
        connection.execute(insert(_revisions).values(version_num=revision))
    command.upgrade(migrations(connection), "head")


def _create(connection: Connection) -> None:
    """Create the tables in an empty SQLite database, as the revisions would do: an embedded Stoker starts with it.

    All revisions one after the other take ten times as long, and alembic's modules stay in memory.
    """
    for index in (index for table in metadata.sorted_tables for index in table.indexes):
        if condition := index.info.get("where"):
            index.dialect_options[_SQLITE]["where"] = text(condition)
    for tables in (_version_metadata, metadata):
        tables.create_all(connection)
    _record(connection, _revisions, "version_num", head())


def head() -> str:
    """Return the revision that this program requires: the last one, by the names of the revisions' files."""
    return max(path.name.partition("_")[0] for path in _revision_files())


def migrations(connection: Connection) -> Config:
    """Return alembic's configuration for a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def shape_of(connection: Connection) -> Shape:
    """Return the tables and columns of a database."""
    inspector = inspect(connection)
    return {
        name: frozenset(column["name"] for column in columns)
        for (_, name), columns in inspector.get_multi_columns().items()
    }


def _missing(connection: Connection, database: str, program: str) -> Iterator[str]:
    """Return tables and columns (`table.column`) of its revision that the database does not have."""
    if int(database) > int(program):
        return  # this program does not know what later revisions add and remove
    expected = _shape_at(database) if database != program else _shape_of_program()
    actual = shape_of(connection)
    for table, columns in expected.items():
        if table not in actual:
            yield table
        else:
            yield from (f"{table}.{column}" for column in sorted(columns - actual[table]))


def _shape_of_program() -> Shape:
    return {table.name: frozenset(column.name for column in table.columns) for table in metadata.sorted_tables}


def _shape_at(revision: str) -> Shape:
    """Return the tables at a revision, by running all revisions up to it on an empty database."""
    from alembic import command

    if revision not in {path.name.partition("_")[0] for path in _revision_files()}:
        return {}
    scratch = create_engine("sqlite://")
    with scratch.connect() as connection:
        command.upgrade(migrations(connection), revision)
        shape = shape_of(connection)
    scratch.dispose()
    return {name: columns for name, columns in shape.items() if name not in _version_metadata.tables}


def _revision_files() -> Iterator[Path]:
    return (_MIGRATIONS / "versions").glob("[0-9]*.py")


def _oldest_programs() -> Iterator[str]:
    """Yield what the revisions declare as `OLDEST_PROGRAM`. They are not imported, since they need alembic."""
    for path in _revision_files():
        yield from _DECLARED.findall(path.read_text(encoding="utf-8"))


def _recorded(connection: Connection, table: Table, existing: set[str]) -> str | None:
    if table.name not in existing:
        return None
    revision: str | None = connection.execute(select(*table.columns)).scalar()
    return revision


def _record(connection: Connection, table: Table, column: str, value: str) -> None:
    connection.execute(delete(table))
    connection.execute(insert(table).values({column: value}))
