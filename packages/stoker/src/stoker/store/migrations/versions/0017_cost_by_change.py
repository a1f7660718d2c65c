"""Indexes with which a request reads what it shows or changes, however many other rows there are

Most stacks are not nested, and most operations end as expected: on SQLite and PostgreSQL, the indexes of columns that
are mostly empty leave out the rows without a value, which a database may otherwise take for a few.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

LISTED = "deleted_at IS NULL AND parent_id IS NULL"

FORMER: tuple[tuple[str, str, list[str]], ...] = (
    ("stacks", "ix_stacks_project_created", ["project_id", "created_at"]),
    ("stacks", "ix_stacks_parent_id", ["parent_id"]),
    ("stacks", "ix_stacks_parent_resource", ["parent_resource"]),
    ("stacks", "ix_stacks_deleted_at", ["deleted_at"]),
    ("stacks", "ix_stacks_credential", ["credential"]),
    ("operations", "ix_operations_stack_id", ["stack_id"]),
    ("operations", "ix_operations_parent_operation", ["parent_operation"]),
    ("software_configs", "ix_software_configs_project_id", ["project_id"]),
    ("software_deployments", "ix_software_deployments_project_id", ["project_id"]),
)
"""Table, name and columns of the indexes that are replaced by others of the same names."""

INDEXES: tuple[tuple[str, str, list[str], str | None], ...] = (
    ("stacks", "ix_stacks_project_created", ["project_id", "created_at", "id"], None),
    ("stacks", "ix_stacks_parent_id", ["parent_id"], "parent_id IS NOT NULL"),
    ("stacks", "ix_stacks_parent_resource", ["parent_resource"], "parent_resource IS NOT NULL"),
    ("stacks", "ix_stacks_deleted_at", ["deleted_at"], "deleted_at IS NOT NULL"),
    ("stacks", "ix_stacks_credential", ["credential"], "deleted_at IS NULL"),
    ("stacks", "ix_stacks_inputs", ["inputs"], None),
    ("stacks", "ix_stacks_good_inputs", ["good_inputs"], None),
    ("stacks", "ix_stacks_listed", ["created_at", "id"], LISTED),
    ("stacks", "ix_stacks_listed_of_project", ["project_id", "created_at", "id"], LISTED),
    ("stacks", "ix_stacks_listed_by_name", ["project_id", "name", "created_at", "id"], LISTED),
    ("stacks", "ix_stacks_listed_by_status", ["project_id", "status", "created_at", "id"], LISTED),
    ("resources", "ix_resources_unexamined", ["stack_id"], "ownership IS NULL AND physical_id IS NOT NULL"),
    ("operations", "ix_operations_stack_id", ["stack_id", "created_at", "id"], None),
    ("operations", "ix_operations_parent_operation", ["parent_operation"], "parent_operation IS NOT NULL"),
    ("operations", "ix_operations_reason_code", ["reason_code", "status"], "reason_code IS NOT NULL"),
    ("software_configs", "ix_software_configs_project_id", ["project_id", "created_at", "id"], None),
    ("software_deployments", "ix_software_deployments_project_id", ["project_id", "server_id"], None),
)


def upgrade() -> None:
    for table, name, _ in FORMER:
        op.drop_index(name, table_name=table)
    for table, name, columns, condition in INDEXES:
        where = None if condition is None else sa.text(condition)
        op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    for table, name, _, _ in INDEXES:
        op.drop_index(name, table_name=table)
    for table, name, columns in FORMER:
        op.create_index(name, table, columns)
