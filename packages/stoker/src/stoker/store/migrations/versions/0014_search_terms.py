"""The search for resources by names and addresses of their objects

Rows of earlier releases have no terms until the next change or check of their resources: services know them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from stoker.store.columns import MYSQL_OPTIONS

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_terms",
        sa.Column("resource_uuid", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("value", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["resource_uuid"], ["resources.uuid"], name=op.f("fk_search_terms_resource_uuid"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("resource_uuid", "kind", "value", name=op.f("pk_search_terms")),
        **MYSQL_OPTIONS,
    )
    op.create_index("ix_search_terms_found", "search_terms", ["kind", "value", "resource_uuid"])
    with op.batch_alter_table("resources", schema=None) as batch_op:
        batch_op.add_column(sa.Column("searchable", sa.Boolean(), nullable=True))
        batch_op.create_index("ix_resources_name_uuid", ["name", "uuid"])
        batch_op.create_index("ix_resources_type_uuid", ["type", "uuid"])
        batch_op.create_index("ix_resources_searchable", ["searchable"])


def downgrade() -> None:
    op.drop_table("search_terms")
    with op.batch_alter_table("resources", schema=None) as batch_op:
        batch_op.drop_index("ix_resources_searchable")
        batch_op.drop_index("ix_resources_type_uuid")
        batch_op.drop_index("ix_resources_name_uuid")
        batch_op.drop_column("searchable")
