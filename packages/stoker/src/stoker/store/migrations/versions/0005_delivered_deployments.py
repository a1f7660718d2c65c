"""When the agent on the server received the configuration of a software deployment"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("software_deployments", schema=None) as batch_op:
        batch_op.add_column(sa.Column("delivered_at", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("software_deployments", schema=None) as batch_op:
        batch_op.drop_column("delivered_at")
