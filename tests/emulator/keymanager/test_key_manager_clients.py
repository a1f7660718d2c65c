"""The key manager as openstacksdk sees it."""

from __future__ import annotations

import pytest
from openstack.connection import Connection

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning"),  # the SDK's own
]


def test_secrets_containers_and_orders(connection: Connection) -> None:
    manager = connection.key_manager
    made = manager.create_secret(name="door", payload="open sesame", payload_content_type="text/plain")
    assert manager.get_secret(made.secret_id).payload == "open sesame"
    assert [one.secret_id for one in manager.secrets(name="door")] == [made.secret_id]
    for _ in range(12):
        manager.create_secret(name="more")
    assert len(list(manager.secrets())) == 13

    refs = [{"name": "key", "secret_ref": made.secret_ref}]
    box = manager.create_container(type="generic", name="box", secret_refs=refs)
    assert manager.get_container(box.container_id).secret_refs == refs
    assert [one.name for one in manager.containers()] == ["box"]

    meta = {"name": "k", "algorithm": "aes", "bit_length": 128, "mode": "cbc"}
    order = manager.create_order(type="key", meta=meta)
    finished = manager.get_order(order.order_id)
    assert finished.status == "ACTIVE"
    key = manager.get_secret(finished.secret_id)
    assert len(key.payload) == 16

    manager.delete_order(order.order_id, ignore_missing=False)
    manager.delete_container(box.container_id, ignore_missing=False)
    manager.delete_secret(made.secret_id, ignore_missing=False)
    assert list(manager.containers()) == list(manager.orders()) == []
