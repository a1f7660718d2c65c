"""What is recorded of a resource, as its plug-in reads and changes it on a worker thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from stoker.plugins.resource import Call, Snapshot

OWN = "heat_plugin_"
REFERENCE, NO_ID, SECRETS = f"{OWN}reference", f"{OWN}no_id", f"{OWN}secrets"
GIVEN, GIVEN_SECRETS = f"{OWN}given", f"{OWN}given_secrets"
"""Keys of `Call.data` that are the adapter's own; all others were set with `data_set`."""


@dataclass
class Record:
    """The changes of a plug-in are collected here; `save` returns when the engine has committed them."""

    uuid: str = ""
    physical_name: str = ""
    resource_id: str | None = None
    action: str = "INIT"
    metadata: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, Any] = field(default_factory=dict)
    created_at: float = 0.0
    save: Callable[[], None] = lambda: None
    metadata_changed: bool = False

    @classmethod
    def of(cls, call: Call) -> Record:
        """Return what is recorded of the resource of a call."""
        return cls(
            uuid=call.resource.uuid,
            physical_name=call.physical_name,
            resource_id=None if call.data.get(NO_ID) else call.physical_id,
            action=call.action,
            metadata=dict(call.metadata),
            data={key: value for key, value in call.data.items() if not key.startswith(OWN)},
            secrets=dict(call.data.get(SECRETS) or {}),
            created_at=call.resource.created_at,
        )

    @classmethod
    def of_snapshot(cls, resource: Snapshot) -> Record:
        """Return what is recorded of a resource, as far as it is known outside of a call."""
        return cls(
            physical_name=resource.physical_name,
            resource_id=None if resource.data.get(NO_ID) else resource.physical_id,
            data={key: value for key, value in resource.data.items() if not key.startswith(OWN)},
            secrets=dict(resource.data.get(SECRETS) or {}),
        )

    def copy_to(self, call: Call) -> None:
        """Write the plug-in's changes into a call, for the engine to commit; the physical ID is its own matter."""
        kept = {key: value for key, value in call.data.items() if key.startswith(OWN)}
        call.data.clear()
        call.data.update(kept, **json.loads(json.dumps(self.data, default=str)))
        if self.secrets:
            call.data[SECRETS] = json.loads(json.dumps(self.secrets, default=str))
        else:
            call.data.pop(SECRETS, None)
        if self.resource_id is not None:
            call.data.pop(NO_ID, None)
        elif call.physical_id is not None:
            call.data[NO_ID] = True
        if self.metadata_changed:
            call.metadata = dict(self.metadata)

    def read_from(self, call: Call) -> None:
        """Take over what the engine's own type has written into a call."""
        self.data = {key: value for key, value in call.data.items() if not key.startswith(OWN)}
        self.metadata = dict(call.metadata)

    @property
    def created_time(self) -> datetime:
        """When the resource was recorded."""
        return datetime.fromtimestamp(self.created_at, UTC)

    def all_data(self) -> dict[str, object]:
        """Return a copy of what `set_data` has recorded."""
        return {**self.data, **self.secrets}

    def set_id(self, identifier: str | None) -> None:
        """Record the ID of the object."""
        self.resource_id = identifier
        self.save()

    def set_data(self, key: str, value: Any, redact: bool) -> None:
        """Record a value. Raises ValueError for a key that the adapter uses itself."""
        if key.startswith(OWN):
            raise ValueError(f"keys that begin with {OWN!r} are reserved: {key!r}")
        chosen, other = (self.secrets, self.data) if redact else (self.data, self.secrets)
        other.pop(key, None)
        chosen[key] = value
        self.save()

    def delete_data(self, key: str) -> bool:
        """Remove a recorded value; return whether there was one."""
        known = key in self.data or key in self.secrets
        self.data.pop(key, None)
        self.secrets.pop(key, None)
        if known:
            self.save()
        return known

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Record other metadata."""
        self.metadata, self.metadata_changed = dict(metadata), True
        self.save()
