"""The key manager: its records and its table of routes.

Secret stores, transport keys and consumers of secrets are not there. Orders of certificates, which Barbican no longer
has, are signed by a certificate authority of the emulator.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.http import Phrases, Request, Response
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


def _version(request: Request) -> dict[str, object]:
    return {
        "id": "v1",
        "status": "stable",
        "updated": "2015-04-28T00:00:00Z",
        "links": [{"rel": "self", "href": f"{request.base}/v1/"}],
        "media-types": [{"base": "application/json", "type": "application/vnd.openstack.key-manager-v1+json"}],
    }


def versions(records: Records, request: Request) -> Response:
    return Response({"versions": {"values": [_version(request)]}}, 300)


def version(records: Records, request: Request) -> Response:
    return Response({"version": _version(request)})


KEY_MANAGER = Service(
    name="barbican",
    mount="/key-manager",
    records=KeyManagerRecords,
    endpoints={"key-manager": "/key-manager"},
    prefixes=("/v1",),
    routes=merged(SECRET_ROUTES, CONTAINER_ROUTES, ORDER_ROUTES, QUOTA_ROUTES),
    root={"/": {"GET": versions}, "/v1": {"GET": version}},
    public=frozenset({"GET /", "GET /v1"}),
    error_body=error_bodies.barbican,
    headers={"OpenStack-API-Version": "key-manager 1.0", "Vary": "openstack-api-version"},
    phrases=Phrases(not_json="Malformed JSON"),
)
