"""Approvals of changes, and when changes are allowed"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from stoker.store.columns import MYSQL_OPTIONS

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "change_controls",
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("body", LONG_TEXT, nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=True),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "stack_id", name=op.f("pk_change_controls")),
        **MYSQL_OPTIONS,
    )
    op.create_table(
        "change_requests",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("stack_id", sa.String(length=36), nullable=True),
        sa.Column("stack_name", sa.String(length=255), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=128), nullable=False),
        sa.Column("pending", sa.String(length=64), nullable=True),
        sa.Column("user_id", sa.String(length=64), nullable=True),
        sa.Column("user_name", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("emergency", LONG_TEXT, nullable=True),
        sa.Column("operation", sa.String(length=36), nullable=True),
        sa.Column("body", LONG_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change_requests")),
        sa.UniqueConstraint("pending", name=op.f("uq_change_requests_pending")),
        **MYSQL_OPTIONS,
    )
    op.create_index("ix_change_requests_operation", "change_requests", ["operation"])
    op.create_index("ix_change_requests_project", "change_requests", ["project_id", "created_at", "id"])
    op.create_index("ix_change_requests_created_at", "change_requests", ["created_at"])
    op.create_table(
        "change_approvals",
        sa.Column("request_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("user_name", sa.String(length=255), nullable=True),
        sa.Column("verdict", sa.String(length=32), nullable=False),
        sa.Column("roles", LONG_TEXT, nullable=False),
        sa.Column("comment", LONG_TEXT, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["change_requests.id"], name=op.f("fk_change_approvals_request_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("request_id", "user_id", name=op.f("pk_change_approvals")),
        **MYSQL_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("change_approvals")
    op.drop_table("change_requests")
    op.drop_table("change_controls")
