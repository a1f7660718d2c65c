"""Flavors, keypairs, server groups, aggregates, hosts, services, limits and versions through HTTP."""

from __future__ import annotations

from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key


def test_versions_need_no_token(served: Any) -> None:
    root, v21 = served.call("GET", "/compute/"), served.call("GET", "/compute/v2.1/")
    assert [row["id"] for row in root.json["versions"]] == ["v2.0", "v2.1"]
    assert (v21.json["version"]["version"], v21.json["version"]["min_version"]) == ("2.100", "2.1")


def test_microversion_headers_are_echoed(nova: Any) -> None:
    answer = nova.call("GET", "/flavors", version="2.60")
    assert answer.headers["openstack-api-version"] == "compute 2.60"
    assert answer.headers["x-openstack-nova-api-version"] == "2.60"


def test_a_flavor_is_created_changed_and_deleted(nova: Any) -> None:
    body = {"name": "big", "ram": 1024, "vcpus": 2, "disk": 3, "id": "auto", "os-flavor-access:is_public": False}
    assert nova.call("POST", "/flavors", {"flavor": body}).status == 403
    flavor = nova.call("POST", "/flavors", {"flavor": body}, user="admin").json["flavor"]
    assert nova.call("POST", "/flavors", {"flavor": body}, user="admin").status == 409
    path = f"/flavors/{flavor['id']}"
    assert nova.call("GET", path).status == 404
    project = nova.call("GET", "/os-quota-sets/x/defaults").json["quota_set"]["id"]
    assert nova.call("POST", f"{path}/action", {"addTenantAccess": {"tenant": project}}, user="admin").status == 400
    own = nova.other("GET", "/identity/v3/auth/projects").json["projects"][0]["id"]
    granted = nova.call("POST", f"{path}/action", {"addTenantAccess": {"tenant": own}}, user="admin")
    assert granted.json["flavor_access"] == [{"flavor_id": flavor["id"], "tenant_id": own}]
    assert nova.call("POST", f"{path}/action", {"addTenantAccess": {"tenant": own}}, user="admin").status == 409
    assert nova.call("GET", path).json["flavor"]["name"] == "big"
    specs = {"extra_specs": {"hw:cpu_policy": "shared", "a:b": "c"}}
    assert nova.call("POST", f"{path}/os-extra_specs", specs, user="admin").json == specs
    assert nova.call("DELETE", f"{path}/os-extra_specs/a:b", user="admin").status == 200
    assert nova.call("GET", f"{path}/os-extra_specs").json["extra_specs"] == {"hw:cpu_policy": "shared"}
    assert nova.call("DELETE", path, user="admin").status == 202
    assert nova.call("GET", path, user="admin").status == 404


def test_default_flavors_exist(nova: Any) -> None:
    rows = {row["name"]: row for row in nova.call("GET", "/flavors/detail").json["flavors"]}
    assert (rows["m1.tiny"]["id"], rows["m1.nano"]["id"], rows["m1.xlarge"]["ram"]) == ("1", "42", 16384)
    small = nova.call("GET", "/flavors?minRam=8192").json["flavors"]
    assert {row["name"] for row in small} == {"m1.large", "m1.xlarge"}


def test_key_pair_is_generated_before_microversion_2_92(nova: Any) -> None:
    made = nova.call("POST", "/os-keypairs", {"keypair": {"name": "k"}}, version="2.91")
    keypair = made.json["keypair"]
    assert keypair["private_key"].startswith("-----BEGIN RSA PRIVATE KEY-----\n")
    public = load_pem_private_key(keypair["private_key"].encode(), None).public_key()
    assert (made.status, keypair["public_key"].startswith("ssh-rsa "), public is not None) == (201, True, True)
    assert "private_key" not in nova.call("GET", "/os-keypairs/k").json["keypair"]
    assert nova.call("POST", "/os-keypairs", {"keypair": {"name": "k"}}, version="2.91").status == 409
    assert nova.call("POST", "/os-keypairs", {"keypair": {"name": "l"}}, version="2.92").status == 400
    given = {"name": "l", "public_key": keypair["public_key"]}
    again = nova.call("POST", "/os-keypairs", {"keypair": given}).json["keypair"]
    assert again["fingerprint"] == keypair["fingerprint"]
    bad = {"name": "m", "public_key": "ssh-rsa nonsense"}
    assert nova.call("POST", "/os-keypairs", {"keypair": bad}).status == 400
    assert nova.call("GET", "/os-keypairs", user="admin").json["keypairs"] == []
    assert nova.call("DELETE", "/os-keypairs/k").status == 204
    assert nova.call("DELETE", "/os-keypairs/k").status == 404


def test_x509_key_pair_is_generated(nova: Any) -> None:
    body = {"keypair": {"name": "w", "type": "x509"}}
    keypair = nova.call("POST", "/os-keypairs", body, version="2.91").json["keypair"]
    certificate = x509.load_pem_x509_certificate(keypair["public_key"].encode())
    private = load_pem_private_key(keypair["private_key"].encode(), None)
    assert certificate.public_key() == private.public_key()


def test_server_groups_by_version(nova: Any) -> None:
    old = nova.call(
        "POST", "/os-server-groups", {"server_group": {"name": "g", "policies": ["affinity"]}}, version="2.1"
    )
    assert old.json["server_group"]["policies"] == ["affinity"]
    soft = {"server_group": {"name": "g", "policies": ["soft-affinity"]}}
    assert nova.call("POST", "/os-server-groups", soft, version="2.14").status == 400
    rules = {"server_group": {"name": "g", "policy": "anti-affinity", "rules": {"max_server_per_host": "3"}}}
    assert nova.call("POST", "/os-server-groups", rules).json["server_group"]["rules"] == {"max_server_per_host": 3}
    key = old.json["server_group"]["id"]
    assert nova.call("DELETE", f"/os-server-groups/{key}").status == 204
    assert nova.call("GET", f"/os-server-groups/{key}").status == 404


def test_aggregate_creates_availability_zone(nova: Any) -> None:
    body = {"aggregate": {"name": "a", "availability_zone": "east"}}
    assert nova.call("POST", "/os-aggregates", body).status == 403
    key = nova.call("POST", "/os-aggregates", body, user="admin").json["aggregate"]["id"]
    path = f"/os-aggregates/{key}"

    def act(name: str, arguments: dict[str, Any]) -> Any:
        return nova.call("POST", f"{path}/action", {name: arguments}, user="admin")

    assert act("add_host", {"host": "compute-2"}).json["aggregate"]["hosts"] == ["compute-2"]
    assert act("add_host", {"host": "compute-2"}).status == 409
    assert act("add_host", {"host": "compute-9"}).status == 404
    zones = nova.call("GET", "/os-availability-zone").json["availabilityZoneInfo"]
    assert {row["zoneName"] for row in zones} == {"nova", "east"}
    server = nova.server(nova.boot(availability_zone="east"), user="admin")
    assert (server["OS-EXT-SRV-ATTR:host"], server["OS-EXT-AZ:availability_zone"]) == ("compute-2", "east")
    act("set_metadata", {"metadata": {"ssd": "true"}})
    assert act("set_metadata", {"metadata": {"ssd": None}}).json["aggregate"]["metadata"] == {
        "availability_zone": "east"
    }
    assert nova.call("DELETE", path, user="admin").status == 400
    assert act("remove_host", {"host": "compute-2"}).status == 200
    assert nova.call("DELETE", path, user="admin").status == 200


def test_hypervisors_count_their_servers(nova: Any) -> None:
    nova.boot()
    assert nova.call("GET", "/os-hypervisors").status == 403
    total = nova.call("GET", "/os-hypervisors/statistics", user="admin", version="2.87").json["hypervisor_statistics"]
    assert (total["count"], total["running_vms"], total["vcpus_used"]) == (4, 1, 1)
    found = nova.call("GET", "/os-hypervisors?hypervisor_hostname_pattern=compute-3", user="admin").json["hypervisors"]
    assert [row["hypervisor_hostname"] for row in found] == ["compute-3"]
    assert nova.call("GET", "/os-hypervisors?hypervisor_hostname_pattern=none", user="admin").status == 404


def test_disabled_host_is_not_scheduled(nova: Any) -> None:
    services = nova.call("GET", "/os-services?binary=nova-compute", user="admin").json["services"]
    for service in services:
        off = {"status": "disabled", "disabled_reason": "holiday"}
        assert nova.call("PUT", f"/os-services/{service['id']}", off, user="admin").status == 200
    assert nova.server(nova.boot())["status"] == "ERROR"
    nova.call("PUT", f"/os-services/{services[0]['id']}", {"status": "enabled"}, user="admin")
    assert nova.server(nova.boot(), user="admin")["OS-EXT-SRV-ATTR:host"] == services[0]["host"]


def test_limits_and_quotas_by_microversion(nova: Any) -> None:
    old = nova.call("GET", "/limits", version="2.1").json["limits"]["absolute"]
    new = nova.call("GET", "/limits").json["limits"]["absolute"]
    assert old["maxPersonality"] == 5
    assert "maxPersonality" not in new
    assert new["maxTotalCores"] == 20
    assert "floating_ips" not in nova.call("GET", "/os-quota-sets/x/defaults").json["quota_set"]
    assert "floating_ips" in nova.call("GET", "/os-quota-sets/x/defaults", version="2.1").json["quota_set"]


def test_unknown_query_parameters_are_refused_by_recent_versions(nova: Any) -> None:
    unknown = {
        "/os-server-groups?name=x": "Additional properties are not allowed ('name' was unexpected)",
        "/flavors/detail?name=x": "Additional properties are not allowed ('name' was unexpected)",
        "/os-keypairs?name=x": "Additional properties are not allowed ('name' was unexpected)",
        "/servers/detail?instance=x": "'instance' does not match any of the regexes: '^_'",
    }
    for path, message in unknown.items():
        assert nova.call("GET", path, version="2.74").status == 200
        answer = nova.call("GET", path, version="2.75")
        assert (answer.status, answer.json["badRequest"]["message"]) == (400, message)
    for path in ("/servers?name=x&_=1", "/flavors?is_public=None&minDisk=1", "/os-server-groups?limit=1&offset=0"):
        assert nova.call("GET", path).status == 200
    assert nova.call("GET", "/os-migrations?x=y", user="admin", version="2.58").status == 200
    assert nova.call("GET", "/os-migrations?x=y", user="admin", version="2.59").status == 400
