"""The base class of resource types for objects of the network service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine import resource


class NeutronResource(resource.Resource):
    """Helpers for values, statuses and attributes."""

    default_client_name = "neutron"
    BUILT, PENDING = ("ACTIVE", "DOWN"), ("BUILD", "PENDING_CREATE", "PENDING_UPDATE", "PENDING_DELETE")

    def validate(self) -> Any:
        """Refuse `value_specs` that contain properties of the type."""
        invalid = super().validate()
        return invalid or self.validate_properties(self.properties)

    @staticmethod
    def validate_properties(properties: Mapping[str, Any]) -> str | None:
        """Return a message if `value_specs` contain properties, or what only the service may set."""
        specs = properties.get("value_specs") if "value_specs" in properties else None
        banned = {"shared", "tenant_id", *properties} & set(specs or ())
        return f"{sorted(banned)[0]} not allowed in value_specs" if banned else None

    @staticmethod
    def prepare_properties(properties: Mapping[str, Any], name: str | None) -> dict[str, object]:
        """Return the values that are given, with those of `value_specs`, and `name` where none is given."""
        values = {key: value for key, value in properties.items() if value is not None and key != "value_specs"}
        if name and "name" in properties:
            values.setdefault("name", name)
        values.update((properties.get("value_specs") if "value_specs" in properties else None) or {})
        return values

    @classmethod
    def merge_value_specs(cls, props: dict[str, Any]) -> None:
        """Move the values of `value_specs` in `props` beside the others."""
        props.update(props.pop("value_specs", None) or {})

    def prepare_update_properties(self, prop_diff: dict[str, object]) -> None:
        """Complete changed values in place: those of `value_specs`, and the name that replaces a removed one."""
        if "value_specs" in prop_diff:
            self.merge_value_specs(prop_diff)
        if "name" in prop_diff and prop_diff["name"] is None:
            prop_diff["name"] = self.physical_resource_name()

    @classmethod
    def is_built(cls, attributes: Mapping[str, object]) -> bool:
        """Return whether the object's `status` is final. Raises ResourceInError and ResourceUnknownStatus."""
        status = attributes.get("status")
        if status in cls.BUILT:
            return True
        if status in cls.PENDING:
            return False
        if status == "ERROR":
            raise exception.ResourceInError(resource_status=status)
        raise exception.ResourceUnknownStatus(resource_status=status, result="Resource is not built")

    def _res_get_args(self) -> list[object]:
        return [self.resource_id]

    def _show_resource(self) -> Any:
        if self.entity is None:
            return None
        shown = getattr(self.client(), f"show_{self.entity}")(*self._res_get_args())
        return shown.get(self.entity, shown)

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        try:
            shown = self._show_resource()
        except Exception as error:
            self.client_plugin().ignore_not_found(error)
            return None
        return shown if name == self.SHOW else (shown or {}).get(name)

    def check_delete_complete(self, token: object) -> bool:
        """Return whether the object is gone; `handle_delete` returned None if it was gone already."""
        if not token or self.entity is None or self.resource_id is None:
            return True
        try:
            self._show_resource()
        except Exception as error:
            self.client_plugin().ignore_not_found(error)
            return True
        return False

    def handle_delete(self) -> object:
        if self.entity is None or self.resource_id is None:
            return None
        try:
            getattr(self.client(), f"delete_{self.entity}")(*self._res_get_args())
        except Exception as error:
            self.client_plugin().ignore_not_found(error)
            return None
        return True
