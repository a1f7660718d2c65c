"""Cluster templates: what the clusters that are made from them consist of."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from openstack_emulator.container_infra.records import Cluster, ClusterTemplate
from openstack_emulator.container_infra.rules.drivers import NETWORK_DRIVERS, check_drivers
from openstack_emulator.container_infra.rules.references import check_reference, distribution
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import RolesLacking, bad_request, forbidden
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id, missing
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

ALWAYS_CHANGEABLE = {"name", "public", "hidden", "tags"}
"""What of a template can be changed although clusters use it."""
OPENING = frozenset({"public", "hidden"})


class Templates(Rules):
    """The cluster templates of all projects."""

    def __init__(self, records: Records, clusters: Table[Cluster]) -> None:
        super().__init__(records)
        self.rows = records.table("clustertemplates", ClusterTemplate, "name", missing=missing("ClusterTemplate"))
        self._clusters = clusters

    def find(self, context: Context, key: str) -> ClusterTemplate:
        """Return a template by ID or name. Raises ApiError 404 and 409."""
        return by_name_or_id(self.rows, "ClusterTemplate", key, lambda row: _may_see(context, row))

    def owned(self, context: Context, key: str) -> ClusterTemplate:
        """Return a template that the caller may change. Raises ApiError 403, 404 and 409."""
        template = self.find(context, key)
        if not context.may_see(template):
            raise RolesLacking(())
        return template

    def listed(self, context: Context) -> list[ClusterTemplate]:
        """Return the templates that the caller may use, in order of creation."""
        return [row for row in self.rows if _may_see(context, row)]

    def create(self, request: Request, settings: Mapping[str, Any]) -> ClusterTemplate:
        """Add a template with these fields. Raises ApiError 400 and 403."""
        context, identifier = request.context, new_id()
        template = ClusterTemplate(
            **settings,
            id=identifier,
            uuid=identifier,
            project_id=context.project,
            user_id=context.user_id,
            created_at=self.records.timestamp(TIMESTAMP),
            updated_at=None,
        )
        template.name = template.name or f"{identifier[:8]}-template"
        template.network_driver = template.network_driver or NETWORK_DRIVERS[template.coe][0]
        template.cluster_distro = distribution(self.cloud, request, template.image_id)
        self._check(request, template, settings.keys())
        return self.rows.add(template)

    def change(self, request: Request, template: ClusterTemplate, changes: Mapping[str, Any]) -> None:
        """Set fields of a template. Raises ApiError 400, also for a template in use, 403 and 404."""
        if changes.keys() - ALWAYS_CHANGEABLE:
            self.require_unused(template)
        after = dataclasses.replace(template, **changes)
        after.network_driver = after.network_driver or NETWORK_DRIVERS[after.coe][0]
        after.name = after.name or template.name
        if "image_id" in changes:
            after.cluster_distro = distribution(self.cloud, request, after.image_id)
        self._check(request, after, changes.keys())
        resolved = {"network_driver": after.network_driver, "name": after.name, "cluster_distro": after.cluster_distro}
        self.rows.update(template, **{**changes, **resolved, "updated_at": self.records.timestamp(TIMESTAMP)})

    def remove(self, template: ClusterTemplate) -> None:
        """Remove a template. Raises ApiError 400 for one in use."""
        self.require_unused(template)
        self.rows.remove(template)

    def require_unused(self, template: ClusterTemplate) -> None:
        """Refuse what cannot be done to a template that clusters use. Raises ApiError 400."""
        if self._clusters.first(cluster_template_id=template.id) is not None:
            raise bad_request(f"ClusterTemplate {template.id} is referenced by one or multiple clusters.")

    def _check(self, request: Request, template: ClusterTemplate, changed: Collection[str]) -> None:
        opened = OPENING.intersection(changed) and (template.public or template.hidden)
        if opened and not request.context.is_admin:
            raise forbidden("Not authorized to set public or hidden flag for cluster template.")
        check_drivers(template)
        for name in changed:
            if (value := template.get(name)) is not None:
                check_reference(self.cloud, request, name, value)


def _may_see(context: Context, template: ClusterTemplate) -> bool:
    return context.may_see(template) or (template.public and not template.hidden)
