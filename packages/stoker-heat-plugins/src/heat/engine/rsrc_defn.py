"""The definition of a resource in a template, with values in place of functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine import properties as props

PROPERTIES, METADATA = "Properties", "Metadata"


class ResourceDefinition:
    """Name, type, properties and metadata. `record` is for the adapter: what is recorded of the resource."""

    def __init__(
        self,
        name: str,
        resource_type: str,
        properties: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        record: Any = None,
    ) -> None:
        self.name, self.resource_type, self.record = name, resource_type, record
        self._properties, self._metadata = dict(properties or {}), dict(metadata or {})

    def properties(self, schema: Mapping[str, Any], context: Any = None) -> props.Properties:
        """Return the values of the properties."""
        return props.Properties(schema, self._properties, context=context)

    def metadata(self) -> dict[str, Any]:
        """Return the metadata."""
        return dict(self._metadata)

    def freeze(self, **changes: Any) -> ResourceDefinition:
        """Return a copy with other `properties` or `metadata`."""
        return ResourceDefinition(
            self.name,
            self.resource_type,
            changes.get("properties", self._properties),
            changes.get("metadata", self._metadata),
            self.record,
        )

    def __getitem__(self, key: str) -> object:
        return {"Type": self.resource_type, PROPERTIES: self._properties, METADATA: self._metadata}[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the part with this key of a CloudFormation template."""
        try:
            return self[key]
        except KeyError:
            return default
