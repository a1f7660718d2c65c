"""The IDs of objects in the mark of a database, which is a plain file.

The ID of a queue, a container or a key pair is its name, which a template can take from a hidden parameter.
"""

from __future__ import annotations

from stoker.base.ids import short_id
from stoker.engine.redaction.object_ids import is_chosen
from stoker.plugins.registry import Registry
from stoker.store.sealing import Sealer

_DIGEST_LENGTH = 16


class MarkedIds:
    """Replaces names that users have chosen by a keyed digest: the mark needs only to tell whether two are equal."""

    def __init__(self, registry: Registry, sealer: Sealer) -> None:
        self._registry = registry
        self._sealer = sealer

    def __call__(self, type_name: str, uuid: str, physical_id: str) -> str:
        """Return the ID of a resource's object as it is written: unchanged if the service or Stoker has made it."""
        if not is_chosen(self._registry, type_name) or physical_id.endswith(f"-{short_id(uuid)}"):
            return physical_id
        return f"chosen name {self._sealer.digest(physical_id)[:_DIGEST_LENGTH]}"
