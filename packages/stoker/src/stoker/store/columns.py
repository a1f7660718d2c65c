"""What the tables are made of: the metadata that they belong to, types of columns, and indexes of some rows."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from typing import Any

from sqlalchemy import (
    BigInteger,
    Index,
    Integer,
    MetaData,
    String,
    Text,
)

MYSQL_OPTIONS: dict[str, Any] = {
    f"{dialect}_{option}": value
    for dialect in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}
"""Options of every table in revisions: names are case-sensitive on every database, and may contain any character.

They are not options of the tables below, because they would import the dialect of MySQL in every process.
"""


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


Identifier = String(36)


Name = String(255)


Action = String(32)


SEALED: dict[object, object] = {"sealed": True}
"""The `info` of a column whose values are sealed."""


class _LongText(Text):
    """MySQL's LONGTEXT, declared without importing its dialect, which other databases do not need."""

    __visit_name__ = "LONGTEXT"


LongText = Text().with_variant(_LongText(), "mysql", "mariadb")


Sequence = BigInteger().with_variant(Integer(), "sqlite")


def index_where(condition: str, name: str, *columns: str, on_mysql: SequenceOf[str] = ()) -> Index:
    """Return an index of the rows with a condition, or of all rows on MySQL, there of the columns `on_mysql` if given.

    Where the rows without a value are most of them, as `parent_id` is of the stacks that are not nested, a database
    that does not know this reads them all from an index that has them. The migrations make the index; options of a
    dialect are not given here, since they import the dialect.
    """
    return Index(name, *columns, info={"where": condition, "on_mysql": list(on_mysql) or list(columns)})
