"""Deaths of the engines that ran an operation, and why an operation was set aside"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "operation_deaths",
        sa.Column("operation_id", sa.String(length=36), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("engine_id", sa.String(length=36), nullable=False),
        sa.Column("verdict", sa.String(length=32), nullable=False),
        sa.Column("survived", sa.Double(), nullable=False),
        sa.Column("recorded_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("operation_id", "epoch", name=op.f("pk_operation_deaths")),
        mariadb_charset="utf8mb4",
        mariadb_collate="utf8mb4_bin",
        mariadb_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        mysql_engine="InnoDB",
    )
    with op.batch_alter_table("operation_deaths", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_operation_deaths_engine_id"), ["engine_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_operation_deaths_stack_id"), ["stack_id"], unique=False)
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.add_column(sa.Column("claimed_at", sa.Double(), nullable=True))
        batch_op.add_column(sa.Column("reason_code", sa.String(length=32), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.drop_column("reason_code")
        batch_op.drop_column("claimed_at")
    op.drop_table("operation_deaths")
