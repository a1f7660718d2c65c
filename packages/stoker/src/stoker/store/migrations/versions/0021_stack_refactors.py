"""Moves of resources between stacks"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from stoker.store.columns import MYSQL_OPTIONS

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "stack_refactors",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("description", LONG_TEXT, nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("reason", LONG_TEXT, nullable=False),
        sa.Column("executed_at", sa.Double(), nullable=True),
        sa.Column("body", LONG_TEXT, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stack_refactors")),
        **MYSQL_OPTIONS,
    )
    op.create_index("ix_stack_refactors_project", "stack_refactors", ["project_id", "created_at", "id"])
    op.create_table(
        "former_locations",
        sa.Column("stack_id", sa.String(length=36), nullable=False),
        sa.Column("resource_name", sa.String(length=255), nullable=False),
        sa.Column("resource_uuid", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["resource_uuid"], ["resources.uuid"], name=op.f("fk_former_locations_resource_uuid"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("stack_id", "resource_name", name=op.f("pk_former_locations")),
        **MYSQL_OPTIONS,
    )
    op.create_index("ix_former_locations_resource_uuid", "former_locations", ["resource_uuid"])


def downgrade() -> None:
    op.drop_table("former_locations")
    op.drop_table("stack_refactors")
