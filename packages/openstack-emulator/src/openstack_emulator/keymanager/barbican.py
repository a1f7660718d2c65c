"""The key manager: its records and its table of routes.

Secret stores, transport keys and consumers of secrets are not there. Orders of certificates, which Barbican no longer
has, are signed by a certificate authority of the emulator.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.http import Phrases
from openstack_emulator.core.versions import ApiVersion, all_versions, media_type, one_version, own
from openstack_emulator.keymanager.containers import CONTAINER_ROUTES, Containers
from openstack_emulator.keymanager.orders import ORDER_ROUTES, Orders
from openstack_emulator.keymanager.quotas import QUOTA_ROUTES, Quotas
from openstack_emulator.keymanager.secret_routes import SECRET_ROUTES
from openstack_emulator.keymanager.secrets import Secrets


class KeyManagerRecords(Records):
    """Everything that the key manager keeps."""

    service = "barbican"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        quotas = Quotas(self)
        secrets = Secrets(self, quotas)
        containers = Containers(self, quotas, secrets)
        Orders(self, quotas, secrets, containers)


_VERSION = ApiVersion(
    "v1",
    (own("/v1/"),),
    "stable",
    {"updated": "2015-04-28T00:00:00Z", "media-types": [media_type("key-manager-v1")]},
)


KEY_MANAGER = Service(
    name="barbican",
    mount="/key-manager",
    records=KeyManagerRecords,
    endpoints={"key-manager": "/key-manager"},
    prefixes=("/v1",),
    routes=merged(SECRET_ROUTES, CONTAINER_ROUTES, ORDER_ROUTES, QUOTA_ROUTES),
    root={"/": {"GET": all_versions(_VERSION, status=300, nested=True)}, "/v1": {"GET": one_version(_VERSION)}},
    public=frozenset({"GET /", "GET /v1"}),
    error_body=error_bodies.barbican,
    headers={"OpenStack-API-Version": "key-manager 1.0", "Vary": "openstack-api-version"},
    phrases=Phrases(not_json="Malformed JSON"),
)
