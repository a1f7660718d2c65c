"""The owners of objects

Rows of earlier releases own nothing yet: what they own depends on sealed values, which engines read when they start
(see `stoker.engine.records.object_owners`).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("resources", schema=None) as batch_op:
        batch_op.add_column(sa.Column("ownership", sa.String(length=128), nullable=True))
        batch_op.create_index(batch_op.f("ix_resources_ownership"), ["ownership"], unique=True)


def downgrade() -> None:
    with op.batch_alter_table("resources", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_resources_ownership"))
        batch_op.drop_column("ownership")
