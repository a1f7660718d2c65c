"""Constraints that look an object up in its service, with the table of finders."""

from __future__ import annotations

from typing import Any

from stoker.base.errors import CloudError
from stoker.cloud.finders import FINDERS
from stoker.cloud.session import Cloud
from stoker.plugins.constraints import Checks, CustomCheck


class Exists(CustomCheck):
    """The value must be the name or ID of an object of one kind; with `empty_allowed` it may also be empty."""

    def __init__(self, finder: str, empty_allowed: bool = False) -> None:
        self.finder = finder
        self.service = FINDERS[finder].service
        self.collection = FINDERS[finder].path
        self._empty_allowed = empty_allowed

    async def complaint(self, value: Any, cloud: Cloud | None) -> str | None:
        if cloud is None or (self._empty_allowed and not value):
            return None
        finder = FINDERS[self.finder]
        try:
            if finder.extension is not None and not await cloud.has_extension(finder.service, finder.extension):
                return f"{finder.service} has not loaded the extension {finder.extension}"
            await cloud.find(self.finder, str(value))
        except CloudError as error:
            if error.transient or error.status == 401 or not 400 <= error.status < 500:
                raise
            return error.reason
        return None


_SAME_NAME = (
    "barbican.container",
    "barbican.secret",
    "blazar.reservation",
    "cinder.backup",
    "cinder.qos_specs",
    "cinder.snapshot",
    "cinder.volume",
    "designate.zone",
    "glance.image",
    "ironic.node",
    "ironic.portgroup",
    "keystone.domain",
    "keystone.group",
    "keystone.project",
    "keystone.region",
    "keystone.role",
    "keystone.service",
    "keystone.user",
    "magnum.cluster_template",
    "manila.share_network",
    "manila.share_snapshot",
    "manila.share_type",
    "mistral.workflow",
    "neutron.address_scope",
    "neutron.flow_classifier",
    "neutron.lbaas.listener",
    "neutron.lbaas.loadbalancer",
    "neutron.lbaas.pool",
    "neutron.lbaas.provider",
    "neutron.network",
    "neutron.port",
    "neutron.port_pair",
    "neutron.port_pair_group",
    "neutron.qos_policy",
    "neutron.router",
    "neutron.security_group",
    "neutron.segment",
    "neutron.subnet",
    "neutron.subnetpool",
    "nova.flavor",
    "nova.host",
    "nova.server",
    "octavia.availabilityzone",
    "octavia.availabilityzoneprofile",
    "octavia.flavor",
    "octavia.flavorprofile",
    "octavia.l7policy",
    "octavia.listener",
    "octavia.loadbalancer",
    "octavia.pool",
    "trove.flavor",
)

LOOKUPS: Checks = {
    **{name: Exists(name) for name in _SAME_NAME},
    "cinder.vtype": Exists("cinder.volume_type"),
    "neutron.taas.tap_flow": Exists("neutron.tap_flow"),
    "neutron.taas.tap_service": Exists("neutron.tap_service"),
    "nova.keypair": Exists("nova.keypair", empty_allowed=True),
}
