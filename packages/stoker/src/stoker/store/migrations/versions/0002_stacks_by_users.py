"""Stacks are found by the project of their own users"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_stacks_user_project_id"), "stacks", ["user_project_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_stacks_user_project_id"), table_name="stacks")
