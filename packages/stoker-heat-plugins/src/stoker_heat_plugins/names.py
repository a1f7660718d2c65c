"""Names that several modules use."""

from __future__ import annotations

CLIENT_OPTIONS = ("endpoint_type", "ca_file", "cert_file", "key_file", "insecure", "url")
"""The options of a section `[clients]` in heat.conf that client plug-ins may read."""

MANUAL = "docs/how-to/heat-plug-ins.md"
