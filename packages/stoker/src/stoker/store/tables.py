"""Tables, in SQLAlchemy Core, the same on SQLite, PostgreSQL and MariaDB.

Times are seconds since the epoch. Values that may contain secrets are sealed strings (see `sealing`), in columns marked
so: property values, parameters, environments, resource data, attributes. Documents that many stacks share (templates,
files, environments) are rows of `documents`, keyed by their content.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    UniqueConstraint,
)

from stoker.store import approval_tables, columns  # noqa: F401  the metadata have the tables of approvals, too
from stoker.store.columns import SEALED, Action, Identifier, LongText, Name, Sequence, index_where

metadata = columns.metadata
"""All tables: those of approvals, too."""


_LISTED = "deleted_at IS NULL AND parent_id IS NULL"
"""The stacks that lists have unless they are asked for more."""


def _listed(name: str, *columns: str) -> Index:
    """Return an index of the stacks that lists have. On MySQL, it begins with the columns that tell which these are."""
    return index_where(_LISTED, name, *columns, on_mysql=("deleted_at", "parent_id", *columns))


documents = Table(
    "documents",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("body", LongText, nullable=False, info=SEALED),
)

document_parts = Table(
    "document_parts",
    metadata,
    Column("whole", String(64), primary_key=True),
    Column("part", String(64), primary_key=True, index=True),
)
"""References between documents: `whole` contains the digest of `part`, as the list of a stack's files does."""

inputs = Table(
    "inputs",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("template", String(64), nullable=False, index=True),
    Column("environment", String(64), nullable=False, index=True),
    Column("files", String(64), nullable=False, index=True),
    Column("parameters", LongText, nullable=False, info=SEALED),
)

stacks = Table(
    "stacks",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("name", Name, nullable=False),
    Column("live_name", Name),
    Column("project_id", String(64), nullable=False),
    Column("user_id", String(64)),
    Column("user_name", Name),
    Column("parent_id", Identifier),
    Column("parent_resource", Identifier),
    Column("parent_resource_name", Name),
    Column("root_id", Identifier, nullable=False, index=True),
    Column("depth", Integer, nullable=False, default=0),
    Column("action", Action, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False, default=""),
    Column("description", LongText, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double),
    Column("deleted_at", Double),
    Column("timeout_minutes", Integer),
    Column("disable_rollback", Boolean, nullable=False, default=True),
    Column("inputs", Identifier, nullable=False),
    Column("good_inputs", Identifier),
    Column("operation", Identifier),
    Column("credential", Name),
    Column("user_project_id", String(64), index=True),
    Column("strayed", Boolean, key="changed_directly", nullable=False, default=False),
    Column("locked", LongText),
    UniqueConstraint("project_id", "live_name"),
    Index("ix_stacks_project_created", "project_id", "created_at", "id"),
    index_where("parent_id IS NOT NULL", "ix_stacks_parent_id", "parent_id"),
    index_where("parent_resource IS NOT NULL", "ix_stacks_parent_resource", "parent_resource"),
    index_where("deleted_at IS NOT NULL", "ix_stacks_deleted_at", "deleted_at"),
    index_where("deleted_at IS NULL", "ix_stacks_credential", "credential"),
    Index("ix_stacks_inputs", "inputs"),
    Index("ix_stacks_good_inputs", "good_inputs"),
    _listed("ix_stacks_listed", "created_at", "id"),
    _listed("ix_stacks_listed_of_project", "project_id", "created_at", "id"),
    _listed("ix_stacks_listed_by_name", "project_id", "name", "created_at", "id"),
    _listed("ix_stacks_listed_by_status", "project_id", "status", "created_at", "id"),
    _listed("ix_stacks_listed_by_state", "project_id", "action", "status", "created_at", "id"),
    _listed("ix_stacks_listed_by_update", "project_id", "updated_at", "created_at", "id"),
    _listed("ix_stacks_listed_by_owner", "project_id", "user_name", "created_at", "id"),
)

trusts = Table(
    "trusts",
    metadata,
    Column("credential", Name, primary_key=True),
    Column("user_id", String(64), nullable=False),
    Column("project_id", String(64), nullable=False),
    Column("roles", LongText, nullable=False),
    Column("given_up", Boolean, nullable=False, index=True),
    Index("ix_trusts_user_project", "user_id", "project_id"),
)

stack_tags = Table(
    "stack_tags",
    metadata,
    Column("stack_id", Identifier, ForeignKey("stacks.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("tag", String(80), nullable=False, index=True),
)

resources = Table(
    "resources",
    metadata,
    Column("uuid", Identifier, primary_key=True),
    Column("stack_id", Identifier, nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Name, nullable=False),
    Column("type", Name, nullable=False),
    Column("action", Action, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("physical_id", Name, index=True),
    Column("fingerprint", String(64), nullable=False),
    Column("requires", LongText, nullable=False),
    Column("replaced_by", Identifier),
    Column("properties", Identifier),
    Column("former_properties", Identifier),
    Column("state", LongText, info=SEALED),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double),
    Column("started_at", Double),
    Column("substituted", Boolean),
    Column("failure", LongText),
    Column("ownership", String(128)),
    Column("former_names", LongText),
    Column("searchable", Boolean, index=True),
    Index("ix_resources_stack_position", "stack_id", "position"),
    Index("ix_resources_ownership", "ownership", unique=True),
    Index("ix_resources_name_uuid", "name", "uuid"),
    Index("ix_resources_type_uuid", "type", "uuid"),
    index_where("ownership IS NULL AND physical_id IS NOT NULL", "ix_resources_unexamined", "stack_id"),
)

search_terms = Table(
    "search_terms",
    metadata,
    Column("resource_uuid", Identifier, ForeignKey("resources.uuid", ondelete="CASCADE"), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("value", Name, primary_key=True),
    Index("ix_search_terms_found", "kind", "value", "resource_uuid"),
)
"""What a service calls the objects of resources: names and addresses (see `search`)."""

property_sets = Table(
    "property_sets",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("body", LongText, nullable=False, info=SEALED),
)

events = Table(
    "events",
    metadata,
    Column("sequence", Sequence, primary_key=True, autoincrement=True),
    Column("id", Identifier, nullable=False, unique=True),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("resource_name", Name, nullable=False),
    Column("resource_type", Name, nullable=False),
    Column("physical_id", Name),
    Column("action", Action, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("properties", Identifier),
    Column("time", Double, nullable=False),
    Column("cause", LongText),
    Column("hook", Action),
    Column("hook_held", Boolean),
    Column("reason_code", Action),
)

operations = Table(
    "operations",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("stack_id", Identifier, nullable=False),
    Column("parent_operation", Identifier),
    Column("parent_resource", Identifier),
    Column("round", Integer, nullable=False, default=0),
    Column("action", Action, nullable=False),
    Column("status", Action, nullable=False, index=True),
    Column("reason", LongText, nullable=False, default=""),
    Column("inputs", Identifier, nullable=False),
    Column("former_inputs", Identifier),
    Column("observe", Boolean, nullable=False, default=False),
    Column("skip_preflight", Boolean),
    Column("differing", LongText),
    Column("request_id", String(64)),
    Column("user_id", String(64)),
    Column("user_name", Name),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("deadline", Double),
    Column("owner", Identifier, index=True),
    Column("epoch", Integer, nullable=False, default=0),
    Column("plan", LongText, info=SEALED),
    Column("snapshot", Identifier),
    Column("claimed_at", Double),
    Column("reason_code", Action),
    Column("cause", Action),
    Column("waiting_epoch", Integer),
    Column("failure", LongText),
    Column("retention", LongText),
    Column("client_request_token", String(128)),
    Column("policies_asked", Integer),
    Index("ix_operations_stack_id", "stack_id", "created_at", "id"),
    Index("ix_operations_finished_at", "finished_at", "stack_id"),
    index_where("parent_operation IS NOT NULL", "ix_operations_parent_operation", "parent_operation"),
    index_where("reason_code IS NOT NULL", "ix_operations_reason_code", "reason_code", "status"),
)

operation_deaths = Table(
    "operation_deaths",
    metadata,
    Column("operation_id", Identifier, primary_key=True),
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("engine_id", Identifier, nullable=False, index=True),
    Column("verdict", Action, nullable=False),
    Column("survived", Double, nullable=False),
    Column("recorded_at", Double, nullable=False),
)
"""The deaths of engines while they ran an operation (see `deaths`)."""

late_requests = Table(
    "late_requests",
    metadata,
    Column("resource_uuid", Identifier, primary_key=True),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("looks", Integer, nullable=False),
    Column("due_at", Double, nullable=False, index=True),
)
"""Creations whose request a service may still execute (see `late_requests`)."""

engines = Table(
    "engines",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("host", Name, nullable=False),
    Column("process", Integer, nullable=False),
    Column("version", String(32), nullable=False),
    Column("started_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("lease", Double, nullable=False),
    Column("stopped_at", Double),
    Column("leaving_at", Double),
)

writers = Table(
    "writers",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("groups", BigInteger, nullable=False),
    Column("time", Double, nullable=False),
)

sealing_keys = Table(
    "sealing_keys",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("proof", LongText, nullable=False, info=SEALED),
)
"""A row for each key that engines have sealed with (see `key_proofs`)."""

exports = Table(
    "exports",
    metadata,
    Column("project_id", String(64), primary_key=True),
    Column("name", Name, primary_key=True),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("value", LongText, nullable=False, info=SEALED),
)

imports = Table(
    "imports",
    metadata,
    Column("stack_id", Identifier, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("project_id", String(64), nullable=False, index=True),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("name", Name),
    Column("action", Action, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False, default=""),
    Column("inputs", Identifier, nullable=False),
    Column("body", LongText, info=SEALED),
    Column("created_at", Double, nullable=False),
)

stack_documents = Table(
    "stack_documents",
    metadata,
    Column("stack_id", Identifier, ForeignKey("stacks.id", ondelete="CASCADE"), primary_key=True),
    Column("body", LongText, nullable=False, info=SEALED),
)

software_configs = Table(
    "software_configs",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("project_id", String(64), nullable=False),
    Column("name", Name, nullable=False),
    Column("group", Name, nullable=False),
    Column("body", LongText, nullable=False, info=SEALED),
    Column("created_at", Double, nullable=False),
    Index("ix_software_configs_project_id", "project_id", "created_at", "id"),
)

software_deployments = Table(
    "software_deployments",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("project_id", String(64), nullable=False),
    Column("server_id", Name, nullable=False, index=True),
    Column("config_id", Identifier, nullable=False, index=True),
    Column("stack_user_project_id", String(64)),
    Column("action", Name),
    Column("status", Name),
    Column("status_reason", LongText),
    Column("body", LongText, nullable=False, info=SEALED),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double),
    Column("delivered_at", Double),
    Index("ix_software_deployments_project_id", "project_id", "server_id"),
)

stack_settings = Table(
    "stack_settings",
    metadata,
    Column("stack_id", Identifier, primary_key=True),
    Column("protected", Boolean, nullable=False, default=False),
    Column("policy", LongText),
    Column("notification_topics", LongText, nullable=False),
    Column("capabilities", LongText, nullable=False),
    Column("drift_mode", String(16), index=True),
)

change_sets = Table(
    "change_sets",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("project_id", String(64), nullable=False),
    Column("name", String(128), nullable=False),
    Column("kind", Action, nullable=False),
    Column("stack_id", Identifier, nullable=False),
    Column("stack_name", Name, nullable=False),
    Column("description", LongText, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("base", Identifier),
    Column("operation", Identifier),
    Column("body", LongText, nullable=False, info=SEALED),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("stack_id", "name"),
    Index("ix_change_sets_project_stack", "project_id", "stack_name"),
    Index("ix_change_sets_created_at", "created_at"),
)

request_tokens = Table(
    "request_tokens",
    metadata,
    Column("project_id", String(64), primary_key=True),
    Column("token", String(128), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("answer", LongText, info=SEALED),
    Column("created_at", Double, nullable=False),
)

announcements = Table(
    "announcements",
    metadata,
    Column("sequence", Sequence, primary_key=True, autoincrement=True),
    Column("id", Identifier, nullable=False, unique=True),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("engine", Identifier, nullable=False, index=True),
    Column("kind", Action, nullable=False),
    Column("body", LongText, nullable=False),
    Column("created_at", Double, nullable=False),
)
"""Pending notifications: recorded in the same transaction as the event, removed once they have been sent."""

drift_detections = Table(
    "drift_detections",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("stack_id", Identifier, nullable=False, index=True),
    Column("project_id", String(64), nullable=False),
    Column("engine", Identifier, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("body", LongText, nullable=False, info=SEALED),
    Column("created_at", Double, nullable=False),
    Column("result", String(16)),
)

resource_scans = Table(
    "resource_scans",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("project_id", String(64), nullable=False),
    Column("scanning", String(64), unique=True),
    Column("engine", Identifier, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("types", LongText, nullable=False),
    Column("filtered", LongText),
    Column("types_read", Integer, nullable=False),
    Column("objects_read", Integer, nullable=False),
    Column("body", LongText, info=SEALED),
    Column("created_at", Double, nullable=False),
    Column("ended_at", Double),
    Index("ix_resource_scans_project_id", "project_id", "created_at"),
    Index("ix_resource_scans_created_at", "created_at"),
)
"""Scans of projects. `scanning` is the project while the scan is in progress: there is one at a time."""

generated_templates = Table(
    "generated_templates",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("project_id", String(64), nullable=False),
    Column("name", String(128), nullable=False),
    Column("engine", Identifier, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("number", Integer, nullable=False),
    Column("body", LongText, nullable=False, info=SEALED),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    UniqueConstraint("project_id", "name"),
)
"""Templates that are generated from objects, with these. `number` counts the resources."""

stack_refactors = Table(
    "stack_refactors",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("project_id", String(64), nullable=False),
    Column("description", LongText, nullable=False),
    Column("status", Action, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("executed_at", Double),
    Column("body", LongText, nullable=False, info=SEALED),
    Column("created_at", Double, nullable=False),
    Index("ix_stack_refactors_project", "project_id", "created_at", "id"),
    Index("ix_stack_refactors_created_at", "created_at"),
)

former_locations = Table(
    "former_locations",
    metadata,
    Column("stack_id", Identifier, primary_key=True),
    Column("resource_name", Name, primary_key=True),
    Column("resource_uuid", Identifier, ForeignKey("resources.uuid", ondelete="CASCADE"), nullable=False, index=True),
)
"""The resources that were moved to other stacks, by the stacks and names that are still part of their URLs."""
