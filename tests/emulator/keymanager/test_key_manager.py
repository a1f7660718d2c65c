"""Secrets, containers, orders, access control lists and quotas over HTTP."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import Answer, ServedCloud
from stoker_foundation.clock import ManualClock

TEXT = {"payload": "open sesame", "payload_content_type": "text/plain"}
OCTETS = "application/octet-stream"


class Barbican:
    """A client of the key manager."""

    def __init__(self, served: ServedCloud, user: str = "demo", project: str | None = None) -> None:
        self.served, self.user, self.project = served, user, project or user

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        path = path.removeprefix(f"{self.served.url}/key-manager/v1")
        token = self.served.token(self.user, self.project)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.served.call(method, f"/key-manager/v1{path}", body, token, sent)

    def make(self, collection: str, body: Any) -> str:
        """The reference of a new object."""
        answer = self.call("POST", f"/{collection}", body)
        assert answer.status in (201, 202), answer.content
        url = str(answer.json[f"{collection[:-1]}_ref"])
        assert url == answer.headers["location"]
        assert url.startswith(f"{self.served.url}/key-manager/v1/{collection}/")
        return url

    def show(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    def payload(self, url: str, accept: str = "*/*") -> bytes:
        answer = self.call("GET", f"{url}/payload", Accept=accept)
        assert answer.status == 200, answer.content
        return answer.content


@pytest.fixture
def barbican(served: ServedCloud) -> Barbican:
    return Barbican(served)


def refused(answer: Answer, status: int, *words: str) -> None:
    assert answer.status == status, answer.content
    assert set(answer.json) == {"code", "title", "description"}
    assert answer.json["code"] == status
    for word in words:
        assert word in answer.json["description"]


def test_versions_are_shown_without_a_token(served: ServedCloud) -> None:
    found = served.call("GET", "/key-manager/")
    assert (found.status, found.json["versions"]["values"][0]["id"]) == (300, "v1")
    assert served.call("GET", "/key-manager/v1/").json["version"]["status"] == "stable"
    assert served.call("GET", "/key-manager/v1/secrets").status == 401


# -- secrets -------------------------------------------------------------------------------------------------------


def test_a_secret_in_one_step(barbican: Barbican) -> None:
    url = barbican.make("secrets", {**TEXT, "name": "door", "algorithm": "aes", "bit_length": 256, "mode": "cbc"})
    shown = barbican.show(url)
    assert {key: shown[key] for key in ("name", "status", "secret_type", "bit_length", "expiration")} == {
        "name": "door",
        "status": "ACTIVE",
        "secret_type": "opaque",
        "bit_length": 256,
        "expiration": None,
    }
    assert (shown["secret_ref"], shown["content_types"]) == (url, {"default": "text/plain"})
    assert b"sesame" not in barbican.call("GET", url).content
    answer = barbican.call("GET", f"{url}/payload", Accept="text/plain")
    assert (answer.content, answer.headers["content-type"].partition(";")[0]) == (b"open sesame", "text/plain")
    assert barbican.call("GET", url, Accept="text/plain").content == b"open sesame"
    refused(barbican.call("GET", f"{url}/payload", Accept=OCTETS), 406)
    assert barbican.call("DELETE", url).status == 204
    for path in (url, f"{url}/payload"):
        refused(barbican.call("GET", path), 404, "Secret not found")
    refused(barbican.call("DELETE", url), 404)


def test_a_secret_in_two_steps(barbican: Barbican) -> None:
    url = barbican.make("secrets", {"name": "later"})
    assert "content_types" not in barbican.show(url)
    refused(barbican.call("GET", f"{url}/payload"), 404, "no payload")
    refused(barbican.call("PUT", url, b"x", Content_Type="image/png"), 415)
    refused(barbican.call("PUT", url, b"", Content_Type=OCTETS), 400)
    refused(barbican.call("PUT", url, b"eA=", Content_Type=OCTETS, Content_Encoding="base64"), 400)
    encoded = base64.b64encode(b"\0\1\2")
    assert barbican.call("PUT", url, encoded, Content_Type=OCTETS, Content_Encoding="base64").status == 204
    assert barbican.payload(url, OCTETS) == b"\0\1\2"
    refused(barbican.call("PUT", url, b"again", Content_Type="text/plain"), 409, "already has data")


@pytest.mark.parametrize(
    ("body", "property_name"),
    [
        ({"payload": "x"}, "payload_content_type"),
        ({"payload_content_type": "text/plain"}, "payload_content_type"),
        ({"payload": " ", "payload_content_type": "text/plain"}, "payload"),
        ({"payload": 7, "payload_content_type": "text/plain"}, "payload"),
        ({"payload": "x", "payload_content_type": "image/png"}, "payload_content_type"),
        ({"payload": "eA==", "payload_content_type": OCTETS}, "payload_content_encoding"),
        ({**TEXT, "payload_content_encoding": "base64"}, "payload_content_encoding"),
        ({"payload": "eA=", "payload_content_type": OCTETS, "payload_content_encoding": "base64"}, "base64"),
        ({"secret_type": "magic"}, "secret_type"),
        ({"bit_length": 0}, "bit_length"),
        ({"bit_length": "128"}, "bit_length"),
        ({"name": 5}, "name"),
        ({"expiration": "tomorrow"}, "expiration"),
        ({"expiration": "1999-01-01T00:00:00"}, "expiration"),
    ],
)
def test_a_wrong_secret_is_refused(barbican: Barbican, body: Mapping[str, Any], property_name: str) -> None:
    refused(barbican.call("POST", "/secrets", body), 400, property_name)
    assert barbican.show("/secrets")["total"] == 0


def test_other_bodies_are_refused(barbican: Barbican) -> None:
    refused(barbican.call("POST", "/secrets", b"{}", Content_Type="text/plain"), 415)
    refused(barbican.call("POST", "/secrets", [1]), 400)
    refused(barbican.call("POST", "/secrets", {**TEXT, "payload": "x" * 20_001}), 413)


def test_errors_and_logs_have_no_payload(barbican: Barbican, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = barbican.make("secrets", TEXT)
    broken = {"payload": "open sesame", "payload_content_type": OCTETS, "payload_content_encoding": "base64"}
    for body in (broken, {**TEXT, "secret_type": "magic"}, {"payload": ["open sesame"]}):
        assert b"sesame" not in barbican.call("POST", "/secrets", body).content
    assert barbican.payload(url) == b"open sesame"
    asked = {"type": "asymmetric", "meta": {"algorithm": "rsa", "bit_length": 7, "pass_phrase": "open sesame"}}
    order = barbican.make("orders", asked)
    barbican.served.advance(10)
    assert barbican.show(order)["status"] == "ERROR"
    assert b"sesame" not in barbican.call("GET", order).content
    assert "sesame" not in caplog.text
    journal = barbican.served.call("GET", "/control/journal").content
    assert b"/key-manager/v1/secrets" in journal
    assert b"sesame" not in journal


def test_a_secret_expires(barbican: Barbican) -> None:
    now = barbican.served.cloud.clock.now()
    until = datetime.fromtimestamp(now + 600, UTC).isoformat()
    url = barbican.make("secrets", {**TEXT, "expiration": until})
    assert barbican.show("/secrets")["total"] == 1
    barbican.served.advance(599)
    assert barbican.show(url)["expiration"].startswith(until[:19])
    barbican.served.advance(1)
    refused(barbican.call("GET", url), 404)
    refused(barbican.call("GET", f"{url}/payload"), 404)
    assert barbican.show("/secrets")["total"] == 0


def test_pages_of_secrets(barbican: Barbican) -> None:
    for at in range(23):
        barbican.make("secrets", {"name": f"s{at:02}"})
    first = barbican.show("/secrets")
    assert (len(first["secrets"]), first["total"], "previous" in first) == (10, 23, False)
    names, page = [], first
    while True:
        names += [row["name"] for row in page["secrets"]]
        if "next" not in page:
            break
        page = barbican.show(page["next"])
    assert names == [f"s{at:02}" for at in range(23)]
    assert barbican.show(page["previous"])["secrets"][0]["name"] == "s10"
    assert len(barbican.show("/secrets?limit=1000&offset=x")["secrets"]) == 23


def test_filters_and_order_of_secrets(barbican: Barbican) -> None:
    barbican.make("secrets", {"name": "b", "algorithm": "aes", "bit_length": 128, "secret_type": "symmetric"})
    barbican.served.advance(60)
    barbican.make("secrets", {"name": "a", "mode": "ctr"})
    late = barbican.show("/secrets?name=a")["secrets"][0]["created"]

    def names(query: str) -> list[str]:
        return [row["name"] for row in barbican.show(f"/secrets?{query}")["secrets"]]

    assert names("name=b") == names("alg=aes") == names("bits=128") == names("secret_type=symmetric") == ["b"]
    assert names("mode=ctr") == names(f"created=gte:{late}") == ["a"]
    assert names(f"created=lt:{late}") == ["b"]
    assert names("sort=name:asc") == names("sort=created:desc") == ["a", "b"]
    refused(barbican.call("GET", "/secrets?sort=colour"), 400)


def test_metadata_of_a_secret(barbican: Barbican) -> None:
    path = f"{barbican.make('secrets', TEXT)}/metadata"
    assert barbican.show(path) == {"metadata": {}}
    assert barbican.call("PUT", path, {"metadata": {"Colour": "blue"}}).json == {"metadata_ref": path}
    refused(barbican.call("PUT", path, {"metadata": {"size": 5}}), 400)
    assert barbican.call("POST", path, {"key": "size", "value": "3"}).status == 201
    refused(barbican.call("POST", path, {"key": "size", "value": "4"}), 409)
    assert barbican.call("PUT", f"{path}/size", {"key": "size", "value": "5"}).json["value"] == "5"
    refused(barbican.call("PUT", f"{path}/taste", {"key": "taste", "value": "5"}), 404)
    assert barbican.show(path) == {"metadata": {"colour": "blue", "size": "5"}}
    assert barbican.call("DELETE", f"{path}/size").status == 204
    refused(barbican.call("GET", f"{path}/size"), 404)


# -- access --------------------------------------------------------------------------------------------------------


def test_secrets_are_hidden_from_administrators_of_other_projects(served: ServedCloud, barbican: Barbican) -> None:
    url, stranger = barbican.make("secrets", TEXT), Barbican(served, "admin")
    for path in (url, f"{url}/payload"):
        refused(stranger.call("GET", path), 403)
    refused(stranger.call("DELETE", url), 403)
    assert stranger.show("/secrets")["total"] == 0
    order = barbican.make("orders", {"type": "key", "meta": {"algorithm": "aes", "bit_length": 256}})
    refused(stranger.call("GET", order), 404)


def test_acl_users_may_read_secret(served: ServedCloud, barbican: Barbican) -> None:
    url, friend = barbican.make("secrets", TEXT), Barbican(served, "admin")
    assert barbican.show(f"{url}/acl") == {"read": {"project-access": True}}
    who = served.call("GET", "/identity/v3/auth/tokens", token=served.token(), headers={
        "X-Subject-Token": served.token()}).json["token"]["user"]["id"]  # fmt: skip
    assert barbican.call("PUT", f"{url}/acl", {"read": {"users": [who]}}).json == {"acl_ref": f"{url}/acl"}
    assert friend.payload(url) == b"open sesame"
    refused(friend.call("DELETE", url), 403)
    assert barbican.call("PATCH", f"{url}/acl", {"read": {"project-access": False}}).status == 200
    shown = barbican.show(f"{url}/acl")["read"]
    assert (shown["users"], shown["project-access"]) == ([who], False)
    assert barbican.payload(url) == b"open sesame", "the creator keeps access"
    refused(barbican.call("PUT", f"{url}/acl", {"write": {}}), 400)
    refused(barbican.call("PUT", f"{url}/acl", {"read": {"users": "me"}}), 400)
    assert barbican.call("DELETE", f"{url}/acl").status == 200
    refused(friend.call("GET", url), 403)


# -- containers ----------------------------------------------------------------------------------------------------


def test_a_generic_container(barbican: Barbican) -> None:
    one, two = barbican.make("secrets", TEXT), barbican.make("secrets", TEXT)
    url = barbican.make(
        "containers", {"type": "generic", "name": "box", "secret_refs": [{"name": "a", "secret_ref": one}]}
    )
    assert barbican.call("POST", f"{url}/secrets", {"name": "b", "secret_ref": two}).status == 201
    shown = barbican.show(url)
    assert (shown["name"], shown["type"], shown["status"]) == ("box", "generic", "ACTIVE")
    assert shown["secret_refs"] == [{"name": "a", "secret_ref": one}, {"name": "b", "secret_ref": two}]
    assert barbican.call("DELETE", f"{url}/secrets", {"name": "a", "secret_ref": one}).status == 204
    assert [entry["name"] for entry in barbican.show("/containers?name=box")["containers"][0]["secret_refs"]] == ["b"]
    assert barbican.call("DELETE", url).status == 204
    refused(barbican.call("GET", url), 404, "Secrets container not found")
    assert barbican.show(one)["status"] == "ACTIVE"


@pytest.mark.parametrize(
    ("kind", "names", "words"),
    [
        ("rsa", ["private_key"], "public_key"),
        ("rsa", ["private_key", "public_key", "other"], "reference names are allowed for RSA"),
        ("certificate", ["private_key"], "certificate"),
        ("certificate", ["certificate", "private_key_passphrase"], "requires private_key"),
        ("generic", ["a", "a"], "Duplicate reference names"),
        ("magic", [], "type"),
    ],
)
def test_a_wrong_container_is_refused(barbican: Barbican, kind: str, names: list[str], words: str) -> None:
    entries = [{"name": name, "secret_ref": barbican.make("secrets", TEXT)} for name in names]
    refused(barbican.call("POST", "/containers", {"type": kind, "secret_refs": entries}), 400, words)


def test_containers_refer_to_distinct_existing_secrets(barbican: Barbican) -> None:
    secret = barbican.make("secrets", TEXT)
    twice = [{"name": name, "secret_ref": secret} for name in "ab"]
    refused(barbican.call("POST", "/containers", {"type": "generic", "secret_refs": twice}), 400, "Duplicate secret")
    barbican.call("DELETE", secret)
    refused(barbican.call("POST", "/containers", {"type": "generic", "secret_refs": twice[:1]}), 404, "doesn't exist")


def test_consumers_of_a_container(barbican: Barbican) -> None:
    url = barbican.make("containers", {"type": "generic", "secret_refs": []})
    consumer = {"name": "balancer", "URL": "http://balancer/1"}
    for _ in range(2):
        assert barbican.call("POST", f"{url}/consumers", consumer).json["consumers"] == [consumer]
    assert barbican.show(f"{url}/consumers") == {"consumers": [consumer], "total": 1}
    refused(barbican.call("POST", f"{url}/consumers", {"name": "x"}), 400, "URL")
    assert barbican.call("DELETE", f"{url}/consumers", consumer).json["consumers"] == []
    refused(barbican.call("DELETE", f"{url}/consumers", consumer), 404)


# -- orders --------------------------------------------------------------------------------------------------------


def fulfilled(barbican: Barbican, kind: str, **meta: Any) -> Any:
    """An order when it is no longer pending."""
    url = barbican.make("orders", {"type": kind, "meta": meta})
    assert barbican.show(url)["status"] == "PENDING"
    barbican.served.advance(10)
    return barbican.show(url)


def parts(barbican: Barbican, container: str) -> dict[str, bytes]:
    """The payloads in a container, by name."""
    return {one["name"]: barbican.payload(one["secret_ref"]) for one in barbican.show(container)["secret_refs"]}


def test_an_order_of_a_key(barbican: Barbican) -> None:
    order = fulfilled(barbican, "key", name="k", algorithm="aes", bit_length=256, mode="cbc")
    assert (order["status"], order["meta"]["name"]) == ("ACTIVE", "k")
    secret = barbican.show(order["secret_ref"])
    assert (secret["secret_type"], secret["algorithm"], secret["content_types"]) == (
        "symmetric", "aes", {"default": OCTETS}
    )  # fmt: skip
    assert len(barbican.payload(order["secret_ref"], OCTETS)) == 32
    assert barbican.call("DELETE", order["order_ref"]).status == 204
    refused(barbican.call("GET", order["order_ref"]), 404, "Order not found")
    assert barbican.show(order["secret_ref"])["status"] == "ACTIVE"


@pytest.mark.parametrize("passphrase", [None, "open sesame"])
def test_an_order_of_a_key_pair(barbican: Barbican, passphrase: str | None) -> None:
    order = fulfilled(barbican, "asymmetric", algorithm="rsa", bit_length=2048, pass_phrase=passphrase)
    assert barbican.show(order["container_ref"])["type"] == "rsa"
    found = parts(barbican, order["container_ref"])
    password = None if passphrase is None else found["private_key_passphrase"]
    private: Any = serialization.load_pem_private_key(found["private_key"], password)
    public: Any = serialization.load_pem_public_key(found["public_key"])
    public.verify(private.sign(b"x", padding.PKCS1v15(), hashes.SHA256()), b"x", padding.PKCS1v15(), hashes.SHA256())
    assert "pass_phrase" not in order["meta"]


def issued(barbican: Barbican, order: Any) -> x509.Certificate:
    """The certificate of an order, after a check of its signature and time."""
    assert order["status"] == "ACTIVE", order
    found = parts(barbican, order["container_ref"])
    certificate = x509.load_pem_x509_certificate(found["certificate"])
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(found["intermediates"]))
    assert 0 <= barbican.served.cloud.clock.now() - certificate.not_valid_before_utc.timestamp() < 60
    return certificate


def test_an_order_of_a_certificate_for_a_stored_key(barbican: Barbican) -> None:
    pair = fulfilled(barbican, "asymmetric", algorithm="rsa", bit_length=2048, pass_phrase="open sesame")
    meta = {"request_type": "stored-key", "container_ref": pair["container_ref"], "subject_dn": "CN=www.example.com"}
    order = fulfilled(barbican, "certificate", **meta)
    certificate = issued(barbican, order)
    assert certificate.subject.rfc4514_string() == "CN=www.example.com"
    found = parts(barbican, pair["container_ref"])
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    assert certificate.public_key().public_bytes(*form) == found["public_key"]
    assert set(parts(barbican, order["container_ref"])) == {
        "certificate", "intermediates", "private_key", "private_key_passphrase"
    }  # fmt: skip
    bad = fulfilled(barbican, "certificate", **{**meta, "subject_dn": "nonsense"})
    assert (bad["status"], bad["error_status_code"]) == ("ERROR", "400")


def test_an_order_of_a_certificate_for_a_given_request(barbican: Barbican) -> None:
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name.from_rfc4514_string("CN=mail.example.com")
    signing_request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    data = base64.b64encode(signing_request.public_bytes(serialization.Encoding.PEM)).decode()
    order = fulfilled(barbican, "certificate", request_type="simple-cmc", request_data=data)
    assert issued(barbican, order).public_key() == key.public_key()
    assert fulfilled(barbican, "certificate", request_data="eA==")["status"] == "ERROR"


@pytest.mark.parametrize(
    ("kind", "meta", "word"),
    [
        ("key", {"algorithm": "aes"}, "bit_length"),
        ("key", {"algorithm": "aes", "bit_length": 12}, "multiple of 8"),
        ("key", {"algorithm": "aes", "bit_length": 128, "payload": "x"}, "payload"),
        ("asymmetric", {"bit_length": 2048}, "algorithm"),
        ("certificate", {"request_type": "stored-key", "subject_dn": "CN=x"}, "container_ref"),
        ("certificate", {"request_type": "full-cmc"}, "request_type"),
        ("wish", {}, "type"),
    ],
)
def test_a_wrong_order_is_refused(barbican: Barbican, kind: str, meta: Any, word: str) -> None:
    refused(barbican.call("POST", "/orders", {"type": kind, "meta": meta}), 400, word)


def test_an_order_that_cannot_be_carried_out_is_in_error(served: ServedCloud, barbican: Barbican) -> None:
    order = fulfilled(barbican, "key", algorithm="rot13", bit_length=128)
    assert (order["status"], order["error_status_code"]) == ("ERROR", "400")
    assert "rot13" in order["error_reason"]
    served.call("POST", "/control/faults", {"on": "POST /key-manager/v1/orders", "do": "error_state", "message": "no"})
    assert fulfilled(barbican, "key", algorithm="aes", bit_length=128)["error_reason"].endswith("no")


# -- quotas, state -------------------------------------------------------------------------------------------------


def test_quotas(served: ServedCloud, barbican: Barbican) -> None:
    operator = Barbican(served, "admin")
    project = barbican.served.call("GET", "/identity/v3/auth/projects", token=served.token("demo", "demo")).json
    path = f"/project-quotas/{next(p['id'] for p in project['projects'] if p['name'] == 'demo')}"
    unlimited = {"secrets": -1, "orders": -1, "containers": -1, "consumers": -1, "cas": -1}
    assert barbican.show("/quotas") == {"quotas": unlimited}
    refused(barbican.call("PUT", path, {"project_quotas": {"secrets": 9}}), 403)
    refused(operator.call("GET", path), 404)
    refused(operator.call("PUT", path, {"project_quotas": {"secrets": "9"}}), 400)
    assert operator.call("PUT", path, {"project_quotas": {"secrets": 1, "orders": 0}}).status == 204
    assert operator.show("/project-quotas")["project_quotas"][0]["project_quotas"]["secrets"] == 1
    barbican.make("secrets", TEXT)
    refused(barbican.call("POST", "/secrets", TEXT), 403, "Secret creation issue seen")
    key = {"type": "key", "meta": {"algorithm": "aes", "bit_length": 128}}
    refused(barbican.call("POST", "/orders", key), 403, "Order creation issue seen")
    assert operator.call("DELETE", path).status == 204
    assert barbican.show("/quotas") == {"quotas": unlimited}


def test_secrets_and_pending_orders_survive_a_restart(tmp_path: Any) -> None:
    clock = ManualClock()
    with ServedCloud(new_cloud(clock=clock, state_path=tmp_path / "state")) as served:
        before = Barbican(served)
        secret = before.make("secrets", TEXT).removeprefix(served.url)
        key = {"type": "key", "meta": {"algorithm": "aes", "bit_length": 128}}
        order = before.make("orders", key).removeprefix(served.url)
    with ServedCloud(new_cloud(clock=clock, state_path=tmp_path / "state")) as served:
        after = Barbican(served)
        assert after.payload(served.url + secret) == b"open sesame"
        served.advance(10)
        assert after.show(served.url + order)["status"] == "ACTIVE"
