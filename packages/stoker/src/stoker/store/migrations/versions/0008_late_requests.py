"""Creations whose request a service may still execute, although its object was not found and another one was created"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "late_requests",
        sa.Column("resource_uuid", sa.String(length=36), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("looks", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("resource_uuid", name=op.f("pk_late_requests")),
        mariadb_charset="utf8mb4",
        mariadb_collate="utf8mb4_bin",
        mariadb_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("late_requests", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_late_requests_due_at"), ["due_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_late_requests_stack_id"), ["stack_id"], unique=False)


def downgrade() -> None:
    op.drop_table("late_requests")
