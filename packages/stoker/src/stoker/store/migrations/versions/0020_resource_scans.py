"""Scans of the objects of projects, and templates that are generated from objects"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    f"{dialect}_{option}": value
    for dialect in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def _long_text() -> sa.Text:
    return sa.Text().with_variant(mysql.LONGTEXT(), "mariadb").with_variant(mysql.LONGTEXT(), "mysql")


def upgrade() -> None:
    op.create_table(
        "resource_scans",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("scanning", sa.String(64), nullable=True),
        sa.Column("engine", sa.String(36), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("reason", _long_text(), nullable=False),
        sa.Column("types", _long_text(), nullable=False),
        sa.Column("filtered", _long_text(), nullable=True),
        sa.Column("types_read", sa.Integer(), nullable=False),
        sa.Column("objects_read", sa.Integer(), nullable=False),
        sa.Column("body", _long_text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource_scans")),
        sa.UniqueConstraint("scanning", name=op.f("uq_resource_scans_scanning")),
        **_OPTIONS,
    )
    with op.batch_alter_table("resource_scans", schema=None) as batch_op:
        batch_op.create_index("ix_resource_scans_project_id", ["project_id", "created_at"], unique=False)
        batch_op.create_index("ix_resource_scans_created_at", ["created_at"], unique=False)
    op.create_table(
        "generated_templates",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("engine", sa.String(36), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("reason", _long_text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", _long_text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_generated_templates")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_generated_templates_project_id_name")),
        **_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("generated_templates")
    with op.batch_alter_table("resource_scans", schema=None) as batch_op:
        batch_op.drop_index("ix_resource_scans_created_at")
        batch_op.drop_index("ix_resource_scans_project_id")
    op.drop_table("resource_scans")
