"""Names that servers' agents, their resource types and the engine share (facts: lifecycle.json, server_metadata)."""

from __future__ import annotations

AGENT, DEPLOYMENTS = "os-collect-config", "deployments"
"""Keys of a server's metadata: what its agent must know to ask again, and what it is to apply.

The second is empty in what is recorded: readers get what the software deployments to the server say at that moment.
"""

METADATA_PATH = "metadata_path"
"""The key of a server's data that says where in the object store its metadata is put: `/container/object`."""
