"""Whether an operation waits, and when an engine was asked to stop"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.add_column(sa.Column("waiting_epoch", sa.Integer(), nullable=True))
    with op.batch_alter_table("engines", schema=None) as batch_op:
        batch_op.add_column(sa.Column("leaving_at", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("engines", schema=None) as batch_op:
        batch_op.drop_column("leaving_at")
    with op.batch_alter_table("operations", schema=None) as batch_op:
        batch_op.drop_column("waiting_epoch")
