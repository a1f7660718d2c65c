"""Failures of operations as data; causes and hooks of events; the names of the resources of nested stacks"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.add_column(sa.Column("failure", LONG_TEXT, nullable=True))
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.add_column(sa.Column("cause", LONG_TEXT, nullable=True))
        batch_op.add_column(sa.Column("hook", sa.String(length=32), nullable=True))
        batch_op.add_column(sa.Column("hook_held", sa.Boolean(), nullable=True))
    with op.batch_alter_table("stacks", schema=None) as batch_op:
        batch_op.add_column(sa.Column("parent_resource_name", sa.String(length=255), nullable=True))
    op.execute(
        "UPDATE stacks SET parent_resource_name ="
        " (SELECT resources.name FROM resources WHERE resources.uuid = stacks.parent_resource)"
        " WHERE parent_resource IS NOT NULL"
    )


def downgrade() -> None:
    with op.batch_alter_table("stacks", schema=None) as batch_op:
        batch_op.drop_column("parent_resource_name")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_column("hook_held")
        batch_op.drop_column("hook")
        batch_op.drop_column("cause")
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.drop_column("failure")
