"""Ended operations, change sets and refactorings by time, for the removal of old ones"""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

INDEXES = {
    "ix_operations_finished_at": ("operations", ["finished_at", "stack_id"]),
    "ix_change_sets_created_at": ("change_sets", ["created_at"]),
    "ix_stack_refactors_created_at": ("stack_refactors", ["created_at"]),
}


def upgrade() -> None:
    for name, (table, columns) in INDEXES.items():
        with op.batch_alter_table(table) as batch_op:
            batch_op.create_index(name, columns, unique=False)


def downgrade() -> None:
    for name, (table, _) in INDEXES.items():
        with op.batch_alter_table(table) as batch_op:
            batch_op.drop_index(name)
