"""Secrets, containers and orders as clients see them. `base` is the URL of the service."""

from __future__ import annotations

from openstack_emulator.keymanager.records import Consumer, Container, Order, Secret
from openstack_emulator.keymanager.rules.references import reference


def secret_view(base: str, secret: Secret) -> dict[str, object]:
    """A secret without the payload."""
    kind = secret.content_type
    return {
        "secret_ref": reference(base, "secrets", secret.id),
        "name": secret.name,
        "status": secret.status,
        "secret_type": secret.secret_type,
        "algorithm": secret.algorithm,
        "bit_length": secret.bit_length,
        "mode": secret.mode,
        "expiration": secret.expiration,
        "creator_id": secret.creator_id,
        "created": secret.created,
        "updated": secret.updated,
        **({} if kind is None else {"content_types": {"default": kind}}),
    }


def container_view(base: str, container: Container) -> dict[str, object]:
    """A container with its secrets and consumers."""
    return {
        "container_ref": reference(base, "containers", container.id),
        "name": container.name,
        "type": container.type,
        "status": container.status,
        "creator_id": container.creator_id,
        "created": container.created,
        "updated": container.updated,
        "secret_refs": [
            {"name": entry.name, "secret_ref": reference(base, "secrets", entry.secret_id)}
            for entry in container.entries
        ],
        "consumers": [consumer_view(base, consumer) for consumer in container.consumers],
    }


def consumer_view(base: str, consumer: Consumer) -> dict[str, object]:
    """A consumer of a container. base: the URL of the service."""
    return {"name": consumer.name, "URL": consumer.url}


def order_view(base: str, order: Order) -> dict[str, object]:
    """An order; with references to what it has generated, or the reason why it has not."""
    shown: dict[str, object] = {
        "order_ref": reference(base, "orders", order.id),
        "type": order.type,
        "meta": order.meta,
        "status": order.status,
        "sub_status": order.sub_status,
        "sub_status_message": order.sub_status_message,
        "creator_id": order.creator_id,
        "created": order.created,
        "updated": order.updated,
    }
    if order.error_status_code is not None:
        shown |= {"error_status_code": order.error_status_code, "error_reason": order.error_reason}
    return shown | {f"{kind.removesuffix('s')}_ref": reference(base, kind, key) for kind, key in order.result.items()}
