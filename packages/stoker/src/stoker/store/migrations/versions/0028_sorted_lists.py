"""Lists of stacks by state, last update and owner from indexes; on MySQL, indexes that tell which stacks are listed

MySQL has no indexes of some rows: there, a page looked at the nested and deleted stacks between those that it shows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

LISTED = ("deleted_at", "parent_id")
WHERE = "deleted_at IS NULL AND parent_id IS NULL"

FORMER = {
    "ix_stacks_listed": ["created_at", "id"],
    "ix_stacks_listed_of_project": ["project_id", "created_at", "id"],
    "ix_stacks_listed_by_name": ["project_id", "name", "created_at", "id"],
    "ix_stacks_listed_by_status": ["project_id", "status", "created_at", "id"],
}
"""Indexes that get other columns on MySQL."""

ADDED = {
    "ix_stacks_listed_by_state": ["project_id", "action", "status", "created_at", "id"],
    "ix_stacks_listed_by_update": ["project_id", "updated_at", "created_at", "id"],
    "ix_stacks_listed_by_owner": ["project_id", "user_name", "created_at", "id"],
}


def upgrade() -> None:
    if _is_mysql():
        for name, columns in FORMER.items():
            op.drop_index(name, table_name="stacks")
            op.create_index(name, "stacks", [*LISTED, *columns])
        for name, columns in ADDED.items():
            op.create_index(name, "stacks", [*LISTED, *columns])
        return
    where = sa.text(WHERE)
    for name, columns in ADDED.items():
        op.create_index(name, "stacks", columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    for name in ADDED:
        op.drop_index(name, table_name="stacks")
    if _is_mysql():
        for name, columns in FORMER.items():
            op.drop_index(name, table_name="stacks")
            op.create_index(name, "stacks", columns)


def _is_mysql() -> bool:
    return op.get_bind().dialect.name in ("mysql", "mariadb")
