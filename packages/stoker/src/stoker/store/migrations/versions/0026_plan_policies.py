"""Policies on plans of projects and stacks"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from stoker.store.columns import MYSQL_OPTIONS

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "plan_policies",
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("body", LONG_TEXT, nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=True),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "stack_id", name=op.f("pk_plan_policies")),
        **MYSQL_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("plan_policies")
