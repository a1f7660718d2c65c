"""Secrets, orders and containers as resources, on the emulated key manager."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.constraints import ConstraintChecker
from stoker.plugins.resource import ResourceType
from stoker.resources.barbican.containers import CertificateContainer, GenericContainer, RSAContainer
from stoker.resources.barbican.order import Order
from stoker.resources.barbican.secret import Secret
from stoker.resources.constraints import CONSTRAINTS
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench

MakeBench = Callable[[type[ResourceType]], Bench]
OCTETS = {"payload_content_type": "application/octet-stream", "payload_content_encoding": "base64"}
KEY = {"type": "key", "algorithm": "aes", "bit_length": 256}
PAIR = {"type": "asymmetric", "algorithm": "rsa", "bit_length": 2048}
CASES: dict[type[ResourceType], Mapping[str, Any]] = {
    Secret: {"payload": "open sesame", "expiration": "2100-01-01T00:00:00+02:00"},
    Order: {**PAIR, "pass_phrase": "open sesame", "expiration": "2100-01-01"},
    GenericContainer: {"secrets": []},
}


async def references(bench: MakeBench, *payloads: str) -> list[str]:
    """References to new secrets."""
    secrets = bench(Secret)
    return [(await secrets.create({"payload": each}, each)).physical_id or "" for each in payloads]


async def shown(cloud: Cloud, reference: Any) -> Any:
    """The object that a reference names, as the key manager shows it."""
    collection, _, key = str(reference).partition("/v1/")[2].partition("/")
    return await cloud.get("barbican", f"/{collection}/{key}")


async def test_a_secret(bench: MakeBench, cloud: Cloud) -> None:
    secrets = bench(Secret)
    secret = await secrets.create({"name": "door", "payload": "open sesame", "algorithm": "aes", "bit_length": 128})
    assert secrets.reference(secret) == secret.physical_id
    assert str(secret.physical_id).startswith(f"{cloud.endpoint('barbican').removesuffix('/v1')}/v1/secrets/")
    found = await shown(cloud, secret.physical_id)
    assert (found["name"], found["secret_type"], found["content_types"]) == (
        "door", "opaque", {"default": "text/plain"}
    )  # fmt: skip
    assert await secrets.attribute(secret, "decrypted_payload") == "open sesame"
    assert await secrets.attribute(secret, "status") == "ACTIVE"
    assert (await secrets.attribute(secret, "show"))["secret_ref"] == secret.physical_id
    await secrets.run("adopt", secret)
    await secrets.delete(secret)
    await secrets.delete(secret)
    with pytest.raises(ActionFailed, match="has no object"):
        await secrets.run("adopt", secret)
    with pytest.raises(CloudError, match="404"):
        await shown(cloud, secret.physical_id)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"payload": base64.b64encode("grüße".encode()).decode(), **OCTETS}, "grüße"),
        ({"payload": base64.b64encode(b"\xff\0").decode(), **OCTETS}, base64.b64encode(b"\xff\0").decode()),
    ],
)
async def test_payloads(bench: MakeBench, given: Mapping[str, Any], expected: Any) -> None:
    secrets = bench(Secret)
    secret = await secrets.create(given)
    assert await secrets.attribute(secret, "decrypted_payload") == expected


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (Secret, {"payload_content_type": "text/plain"}, "requires payload"),
        (Secret, {"payload": "eA==", "payload_content_type": "application/octet-stream"}, "content_encoding"),
        (Secret, {"payload": "?", **OCTETS}, "base64"),
        (Secret, {"payload": "eA==", "payload_content_encoding": "base64"}, "payload_content_type"),
        (Secret, {"bit_length": -1}, "less than 0"),
        (Order, {"type": "key", "algorithm": "aes"}, "bit_length"),
        (Order, {"type": "asymmetric"}, "algorithm and bit_length"),
        (Order, {**KEY, "pass_phrase": "x", "ca_id": "y"}, "has no ca_id, pass_phrase"),
        (Order, {"type": "certificate", "profile": "x"}, "requires ca_id"),
        (Order, {"type": "certificate", "algorithm": "aes"}, "has no algorithm"),
        (GenericContainer, {"secrets": [{"name": "a", "ref": "x"}, {"name": "b", "ref": "x"}]}, "once"),
        (RSAContainer, {"private_key_ref": "x", "public_key_ref": "x"}, "once"),
    ],
)
async def test_wrong_properties(bench: MakeBench, kind: type[ResourceType], given: Any, words: str) -> None:
    with pytest.raises(BadProperties, match=words):
        await bench(kind).finalized(given)


async def test_an_empty_payload_is_refused_by_the_service(bench: MakeBench) -> None:
    with pytest.raises(CloudError, match="must be non empty"):
        await bench(Secret).create({"payload": ""})


async def test_an_order_of_a_key(bench: MakeBench, cloud: Cloud) -> None:
    orders = bench(Order)
    order = await orders.create({**KEY, "name": "k", "mode": "cbc"})
    assert len(orders.entries) > 1, "the order is pending at first"
    read = await orders.attributes(order, [(name,) for name in Order.attributes])
    assert (read["status",], read["order_ref",], read["container_ref",]) == ("ACTIVE", order.physical_id, None)
    assert [read[name,] for name in ("public_key", "private_key", "certificate", "intermediates")] == [None] * 4
    key = await shown(cloud, read["secret_ref",])
    assert (key["name"], key["algorithm"], key["bit_length"]) == ("k", "aes", 256)
    await orders.delete(order)
    await orders.delete(order)
    assert (await shown(cloud, read["secret_ref",]))["status"] == "ACTIVE", "what was generated outlives the order"


async def test_orders_of_a_key_pair_and_of_its_certificate(bench: MakeBench, served: ServedCloud) -> None:
    orders = bench(Order)
    pair = await orders.create({**PAIR, "pass_phrase": "open sesame"})
    public = await orders.attribute(pair, "public_key")
    private = await orders.attribute(pair, "private_key")
    serialization.load_pem_private_key(private.encode(), b"open sesame")
    source = await orders.attribute(pair, "container_ref")
    body = {"request_type": "stored-key", "subject_dn": "CN=www.example.com", "source_container_ref": source}
    order = await orders.create({"type": "certificate", **body}, "certificate")
    certificate = x509.load_pem_x509_certificate((await orders.attribute(order, "certificate")).encode())
    authority = await orders.attribute(order, "intermediates")
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.encode()))
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    assert certificate.public_key().public_bytes(*form).decode() == public
    assert await orders.attribute(order, "private_key") == private


async def test_a_failed_order_shows_the_reason(bench: MakeBench) -> None:
    with pytest.raises(ActionFailed, match=r"rot13.*status code 400") as caught:
        await bench(Order).create({**KEY, "algorithm": "rot13"})
    assert (caught.value.failed.kind, caught.value.failed.in_error) == ("Error", False)


async def test_a_generic_container(bench: MakeBench, cloud: Cloud) -> None:
    one, two, three = await references(bench, "one", "two", "three")
    containers = bench(GenericContainer)
    secrets = [{"name": "A", "ref": one}, {"name": "b", "ref": two}, {"name": "B", "ref": three}]
    container = await containers.create({"name": "box", "secrets": secrets})
    assert await containers.attribute(container, "secret_refs") == {"a": one, "b": three}
    assert await containers.attribute(container, "secret_refs", "a") == one
    assert await containers.attribute(container, "status") == "ACTIVE"
    assert await containers.attribute(container, "consumers") == []
    assert await containers.attribute(container, "container_ref") == containers.reference(container)
    path = f"/containers/{str(container.physical_id).rpartition('/')[2]}/secrets"
    await cloud.post("barbican", path, {"name": "c", "secret_ref": two})
    call = containers.call(container, "CHECK", container.properties)
    assert await containers.kind.observe(call) == {"secrets": None}
    await containers.delete(container)
    await containers.delete(container)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (RSAContainer, ["private_key", "private_key_passphrase", "public_key"]),
        (CertificateContainer, ["certificate", "intermediates", "private_key", "private_key_passphrase"]),
    ],
)
async def test_containers_of_known_secrets(
    bench: MakeBench, cloud: Cloud, kind: type[ResourceType], names: list[str]
) -> None:
    refs = dict(zip(names, await references(bench, *names), strict=True))
    containers = bench(kind)
    container = await containers.create({f"{name}_ref": reference for name, reference in refs.items()})
    assert await containers.attribute(container, "secret_refs") == refs
    await containers.delete(container)
    with pytest.raises(CloudError, match="requires secrets named"):
        await containers.create({"private_key_ref": refs["private_key"]})


async def test_references_must_exist(bench: MakeBench, cloud: Cloud) -> None:
    (secret,) = await references(bench, "one")
    container = (await bench(GenericContainer).create({"secrets": [{"name": "a", "ref": secret}]})).physical_id
    check = ConstraintChecker(CONSTRAINTS.get, cloud)
    for name, good in (("barbican.secret", secret), ("barbican.container", container)):
        assert await check.check(name, good) is None
        assert await check.check(name, f"{good}0") is not None


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
async def test_an_object_is_created_once_despite_crashes(
    bench: MakeBench, cloud: Cloud, kind: type[Any], named: bool
) -> None:
    twins, resource = bench(kind), bench(kind).resource()
    given = {**CASES[kind], **({"name": "equal"} if named else {})}
    twin = await twins.create(given, "twin")
    resource.properties = await twins.finalized(given)
    await run_crashing(twins, "create", resource)
    plural = kind.collection.members
    listed = await cloud.list("barbican", f"/{plural}", plural)
    found = {item[kind.collection.id_field] for item in listed if item.get("secret_type", "opaque") == "opaque"}
    assert found == {twin.physical_id, resource.physical_id}


async def test_refusal_has_service_message(bench: MakeBench, served: ServedCloud) -> None:
    fault = Fault(on="POST /key-manager/v1/secrets", do="fail", status=403, message="Quota reached")
    served.do(lambda: served.cloud.faults.add(fault))
    with pytest.raises(CloudError, match="Quota reached"):
        await bench(Secret).create({"payload": "x"})
