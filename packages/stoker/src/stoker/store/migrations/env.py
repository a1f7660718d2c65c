"""Alembic's environment script: runs the migrations on the connection in its configuration."""

from __future__ import annotations

from alembic import context

from stoker.store.columns import MYSQL_OPTIONS
from stoker.store.schema import VERSION_TABLE
from stoker.store.tables import metadata

for table in metadata.sorted_tables:
    table.dialect_kwargs.update(MYSQL_OPTIONS)  # for revisions that alembic generates from the tables

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    version_table_pk=False,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
