"""A module to import for what it imports: nearly all that an engine uses, every resource type included."""

from __future__ import annotations

from importlib import import_module

from stoker.plugins.registry import Registry

LATER = (
    "email.mime.multipart",
    "email.mime.text",
    "keystoneauth1.loading._plugins.identity.generic",
    "oslo_policy._external",
    "sqlalchemy.dialects.sqlite",
    "stoker.engine.inspection.orphans",
    "stoker.operations",
    "stoker.operations.transfer_checks",
    "stoker.rpc.pipes",
)
"""What is imported on first use."""

Registry.from_entry_points().load()
for _name in LATER:
    import_module(_name)
