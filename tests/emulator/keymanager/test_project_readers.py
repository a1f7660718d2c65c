"""What roles may do in the key manager, and small points of its objects."""

from __future__ import annotations

from openstack_emulator.testing import ServedCloud
from tests.emulator.users import token_with_role

VAULT = "/key-manager/v1"


def test_a_reader_of_the_project_reads_no_secrets(served: ServedCloud) -> None:
    member, reader = served.token("demo", "demo"), token_with_role(served, "reader")
    made = served.call(
        "POST", f"{VAULT}/secrets", {"name": "s", "payload": "x", "payload_content_type": "text/plain"}, member
    )
    path = "/key-manager" + made.json["secret_ref"].partition("/key-manager")[2]
    for secret in (path, f"{path}/acl", f"{VAULT}/secrets", f"{VAULT}/orders", f"{VAULT}/containers"):
        assert served.call("GET", secret, token=reader).status == 403
    body = {"type": "key", "meta": {"algorithm": "aes", "bit_length": 256, "mode": "cbc"}}
    order = served.call("POST", f"{VAULT}/orders", body, served.token()).json["order_ref"].rpartition("/")[2]
    assert served.call("GET", f"{VAULT}/orders/{order}", token=reader).status == 404
    assert served.call("DELETE", f"{VAULT}/orders/{order}", token=reader).status == 404


def test_a_container_may_have_several_secrets_without_a_name(served: ServedCloud) -> None:
    token = served.token("demo", "demo")
    secrets = [served.call("POST", f"{VAULT}/secrets", {}, token).json["secret_ref"] for _ in range(2)]
    body = {"type": "generic", "secret_refs": [{"secret_ref": secret} for secret in secrets]}
    made = served.call("POST", f"{VAULT}/containers", body, token)
    assert made.status == 201
    path = "/key-manager" + made.json["container_ref"].partition("/key-manager")[2]
    assert served.call("DELETE", f"{path}/acl", token=token).json is None
