"""Deploy templates: steps that a node with their trait takes when it is deployed. The emulator only keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openstack_emulator.baremetal.records import DeployTemplate
from openstack_emulator.baremetal.rules.kinds import TIMESTAMP
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules


class Templates(Rules):
    """All deploy templates."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table(
            "deploy_templates",
            DeployTemplate,
            "name",
            missing=lambda key: not_found(f"Deploy template {key} could not be found."),
        )

    def find(self, key: str) -> DeployTemplate:
        """A template, by UUID or name. Raises ApiError 404."""
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None:
            raise self.rows.missing(key)
        return found

    def create(self, key: str, values: Mapping[str, Any]) -> DeployTemplate:
        """Add a template with the fields of a request. Raises ApiError 400 and 409."""
        now = self.records.timestamp(TIMESTAMP)
        template = DeployTemplate(id=key, uuid=key, created_at=now, updated_at=None, **values)
        self._check(template)
        return self.rows.add(template)

    def change(self, row: DeployTemplate, changes: Mapping[str, Any]) -> None:
        """Set fields of a template as a request wants them. Raises ApiError 400 and 409."""
        self._check(replace(row, **changes))
        self.rows.update(row, **changes, updated_at=self.records.timestamp(TIMESTAMP))

    def _check(self, template: DeployTemplate) -> None:
        """Refuse a template with a step twice (400), or with the name of another one (409)."""
        seen = {(step["interface"], step["step"]) for step in template.steps}
        if len(seen) < len(template.steps):
            raise bad_request("Duplicate deploy steps: an interface and a step may be named once.")
        other = self.rows.first(name=template.name)
        if other is not None and other.uuid != template.uuid:
            raise conflict(f"A deploy template with name {template.name} already exists.")
