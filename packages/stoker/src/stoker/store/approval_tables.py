"""Tables of approvals: the rules of projects, the changes that wait, and their reviews."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    String,
    Table,
)

from stoker.store.columns import SEALED, Action, Identifier, LongText, Name, metadata

change_controls = Table(
    "change_controls",
    metadata,
    Column("project_id", String(64), primary_key=True),
    Column("stack_id", Identifier, primary_key=True),
    Column("body", LongText, nullable=False),
    Column("user_id", String(64)),
    Column("updated_at", Double, nullable=False),
)
"""What changes of stacks need, by project: of all of them (`stack_id` is empty), or of a tree of stacks."""


plan_policies = Table(
    "plan_policies",
    metadata,
    Column("project_id", String(64), primary_key=True),
    Column("stack_id", Identifier, primary_key=True),
    Column("body", LongText, nullable=False),
    Column("user_id", String(64)),
    Column("updated_at", Double, nullable=False),
)
"""Policies on plans as YAML, by project: for all of its stacks (`stack_id` is empty), or for a tree of stacks."""


change_requests = Table(
    "change_requests",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("project_id", String(64), nullable=False),
    Column("stack_id", Identifier),
    Column("stack_name", Name, nullable=False),
    Column("action", Action, nullable=False),
    Column("digest", String(128), nullable=False),
    Column("pending", String(64), unique=True),
    Column("user_id", String(64)),
    Column("user_name", Name),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("emergency", LongText),
    Column("operation", Identifier, index=True),
    Column("body", LongText, nullable=False, info=SEALED),
    Index("ix_change_requests_project", "project_id", "created_at", "id"),
    Index("ix_change_requests_created_at", "created_at"),
)
"""Changes that were refused until they are approved; `pending` identifies the plan while the request is open."""


change_approvals = Table(
    "change_approvals",
    metadata,
    Column("request_id", Identifier, ForeignKey("change_requests.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", String(64), primary_key=True),
    Column("user_name", Name),
    Column("verdict", Action, nullable=False),
    Column("roles", LongText, nullable=False),
    Column("comment", LongText, nullable=False),
    Column("created_at", Double, nullable=False),
)
"""The reviews of changes; `roles` is a JSON list of those that the user had then."""
