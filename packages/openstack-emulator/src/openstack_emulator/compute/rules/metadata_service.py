"""The metadata service."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records

PROXY_USER = "metadata-proxy"


class MetadataService(Records):
    """Nothing is kept: all that is shown belongs to the compute service."""

    service = "nova-metadata"

    def secret(self) -> bytes:
        """The secret that proxies share with the service."""
        return self.cloud.password_of(PROXY_USER).encode()
