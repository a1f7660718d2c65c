"""What engines do about drift of a stack by themselves"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("stack_settings", schema=None) as batch_op:
        batch_op.add_column(sa.Column("drift_mode", sa.String(16), nullable=True))
        batch_op.create_index("ix_stack_settings_drift_mode", ["drift_mode"], unique=False)
    with op.batch_alter_table("drift_detections", schema=None) as batch_op:
        batch_op.add_column(sa.Column("result", sa.String(16), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("drift_detections", schema=None) as batch_op:
        batch_op.drop_column("result")
    with op.batch_alter_table("stack_settings", schema=None) as batch_op:
        batch_op.drop_index("ix_stack_settings_drift_mode")
        batch_op.drop_column("drift_mode")
