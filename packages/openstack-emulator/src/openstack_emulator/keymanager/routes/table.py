"""All routes of the key manager, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, media_type, one_version, own
from openstack_emulator.keymanager.records import Container, Secret
from openstack_emulator.keymanager.routes import containers, orders, quotas, secrets
from openstack_emulator.keymanager.routes.access import AccessLists
from openstack_emulator.keymanager.rules.composition import KeyManager

Routes = Mapping[str, Mapping[str, Callable[[KeyManager, Request], Response]]]

_VERSION = ApiVersion(
    "v1",
    (own("/v1/"),),
    "stable",
    {"updated": "2015-04-28T00:00:00Z", "media-types": [media_type("key-manager-v1")]},
)
_SECRET_ACCESS = AccessLists[Secret](lambda manager: manager.secrets)
_CONTAINER_ACCESS = AccessLists[Container](lambda manager: manager.containers)

ROUTES: Routes = {
    "/containers": {"GET": containers.index, "POST": containers.create},
    "/containers/{id}": {"GET": containers.show, "DELETE": containers.delete},
    "/containers/{id}/acl": {
        "GET": _CONTAINER_ACCESS.show,
        "PUT": _CONTAINER_ACCESS.replace,
        "PATCH": _CONTAINER_ACCESS.change,
        "DELETE": _CONTAINER_ACCESS.reset,
    },
    "/containers/{id}/consumers": {
        "GET": containers.list_consumers,
        "POST": containers.add_consumer,
        "DELETE": containers.remove_consumer,
    },
    "/containers/{id}/consumers/{consumer_id}": {"GET": containers.show_consumer},
    "/containers/{id}/secrets": {"POST": containers.add_secret, "DELETE": containers.remove_secret},
    "/orders": {"GET": orders.index, "POST": orders.create},
    "/orders/{id}": {"GET": orders.show, "DELETE": orders.delete},
    "/project-quotas": {"GET": quotas.index},
    "/project-quotas/{id}": {"GET": quotas.show, "PUT": quotas.update, "DELETE": quotas.delete},
    "/quotas": {"GET": quotas.show_own},
    "/secrets": {"GET": secrets.index, "POST": secrets.create},
    "/secrets/{id}": {"GET": secrets.show, "PUT": secrets.upload, "DELETE": secrets.delete},
    "/secrets/{id}/acl": {
        "GET": _SECRET_ACCESS.show,
        "PUT": _SECRET_ACCESS.replace,
        "PATCH": _SECRET_ACCESS.change,
        "DELETE": _SECRET_ACCESS.reset,
    },
    "/secrets/{id}/metadata": {
        "GET": secrets.show_metadata,
        "PUT": secrets.replace_metadata,
        "POST": secrets.add_metadatum,
    },
    "/secrets/{id}/metadata/{key}": {
        "GET": secrets.show_metadatum,
        "PUT": secrets.change_metadatum,
        "DELETE": secrets.remove_metadatum,
    },
    "/secrets/{id}/payload": {"GET": secrets.show_payload},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": all_versions(_VERSION, status=300, nested=True)},
    "/v1": {"GET": one_version(_VERSION)},
}
"""What is directly below the mount: the versions."""
