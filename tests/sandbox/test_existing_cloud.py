"""`stoker test --like`: tests and rehearsals on an emulated cloud that has what another cloud has, read over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from openstack_emulator.core.faults import parse_fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import Invalid, UserError
from stoker.cli.main import cli
from stoker.testing.cases import read_cloud
from stoker.testing.existing_objects import create_existing_objects
from stoker.testing.sandbox import Sandbox
from stoker_foundation.clock import ManualClock

TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  server:
    type: OS::Nova::Server
    properties: {image: debian-12, flavor: web.large, key_name: mine, networks: [{network: dmz}]}
  address: {type: OS::Neutron::FloatingIP, properties: {floating_network: internet}}
"""
TESTS = """
template: web.yaml
tests:
  deploys: {plan: {counts: {create: 2}}}
"""


OCTETS = "application/octet-stream"


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    """A cloud with a flavor, an image, networks and a key pair that no new cloud has, and without Octavia."""
    with ServedCloud(new_cloud(["compute", "network", "image", "volume"], clock=ManualClock())) as cloud:
        web = {"name": "web.large", "ram": 4096, "vcpus": 3, "disk": 7}
        flavor = made(cloud, "/compute/v2.1/flavors", {"flavor": web})["flavor"]
        specs = {"extra_specs": {"hw:cpu_policy": "dedicated"}}
        made(cloud, f"/compute/v2.1/flavors/{flavor['id']}/os-extra_specs", specs)
        made(cloud, "/volume/v3/types", {"volume_type": {"name": "fast", "extra_specs": {"multiattach": "<is> True"}}})
        made(cloud, "/volume/v3/volumes", {"volume": {"size": 30}}, "demo")
        image = {"name": "debian-12", "disk_format": "qcow2", "container_format": "bare", "hw_disk_bus": "scsi"}
        found = made(cloud, "/image/v2/images", {**image, "min_disk": 2, "visibility": "public"})
        path, headers = f"/image/v2/images/{found['id']}/file", {"Content-Type": OCTETS}
        assert cloud.call("PUT", path, b"x", cloud.token(), headers).status == 204
        add_network(cloud, "demo", "192.0.2.0/24", {"name": "dmz"})
        add_network(cloud, "admin", "198.51.100.0/24", {"name": "internet", "router:external": True})
        made(cloud, "/compute/v2.1/os-keypairs", {"keypair": {"name": "mine"}}, "demo")
        yield cloud


def add_network(cloud: ServedCloud, user: str, cidr: str, network: Mapping[str, Any]) -> None:
    identifier = made(cloud, "/network/v2.0/networks", {"network": network}, user)["network"]["id"]
    subnet = {"network_id": identifier, "cidr": cidr, "ip_version": 4}
    made(cloud, "/network/v2.0/subnets", {"subnet": subnet}, user)


def made(cloud: ServedCloud, path: str, body: Any, user: str = "admin") -> Any:
    answer = cloud.call("POST", path, body, cloud.token(user, user))
    assert answer.status < 300, answer
    return answer.json


def stoker(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture
def files(served: ServedCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a template, its tests, and the login to the served cloud."""
    auth = {"auth_url": f"{served.url}/identity", "username": "demo", "password": served.password_of("demo")}
    auth |= {"project_name": "demo", "user_domain_id": "default", "project_domain_id": "default"}
    (tmp_path / "clouds.yaml").write_text(yaml.safe_dump({"clouds": {"real": {"auth": auth}}}))
    (tmp_path / "web.yaml").write_text(TEMPLATE)
    (tmp_path / "web.test.yaml").write_text(TESTS)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tests_on_a_cloud_like_another_one(served: ServedCloud, files: Path) -> None:
    served.do(served.cloud.journal.clear)
    read = stoker("test", "--like", "real")
    assert read.exit_code == 0, read.output
    changes = served.do(lambda: served.cloud.journal.select({}))
    assert {(each["method"], each["path"]) for each in changes} == {("POST", "/identity/v3/auth/tokens")}
    (files / "real.yaml").write_text(read.output)
    cloud = read_cloud("real.yaml")
    specs = {"hw:cpu_policy": "dedicated"}
    assert cloud["flavors"]["web.large"] == {"ram": 4096, "vcpus": 3, "disk": 7, "extra_specs": specs}
    assert cloud["volume_types"]["fast"] == {"extra_specs": {"multiattach": "<is> True"}}
    assert cloud["used"]["volume"] == {"volumes": 1, "gigabytes": 30}
    assert cloud["used"]["network"]["network"] == 2  # its own, and `dmz`; `internet` is the operator's
    assert cloud["images"]["debian-12"].items() >= {"min_disk": 2, "hw_disk_bus": "scsi"}.items()
    assert cloud["networks"]["dmz"] == {"cidr": "192.0.2.0/24"}
    assert cloud["networks"]["internet"] == {"external": True, "cidr": "198.51.100.0/24"}
    assert (cloud["keypairs"], cloud["quotas"]["compute"]["instances"]) == (["mine"], 10)
    assert "load-balancer" not in cloud["services"]
    assert stoker("test").exit_code == 1
    done = stoker("test", "--cloud", "real.yaml", "--jobs", "1")
    assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_processes_run_tests_and_rehearsals_on_a_cloud_like_another_one(files: Path) -> None:
    read = stoker("test", "--like", "real")
    (files / "real.yaml").write_text(read.output)
    done = stoker("test", "--cloud", "real.yaml", "--jobs", "2")
    assert done.exit_code == 0, done.output
    rehearsed = stoker("rehearse", "web.yaml", "--cloud", "real.yaml", "--seeds", "0", "-j", "1")
    assert (rehearsed.exit_code, "CREATE_COMPLETE" in rehearsed.output) == (0, True), rehearsed.output


def test_missing_parts_of_the_cloud(files: Path) -> None:
    """Flavors, services and extensions that are not in the file are not there."""
    lacking = {
        "only": True,
        "flavors": {"one": {}},
        "services": ["compute", "image", "network"],
        "extensions": ["router"],
    }
    balancer = "{type: OS::Octavia::LoadBalancer, properties: {vip_subnet: private-subnet}}"
    trunk = "{type: OS::Neutron::Trunk, properties: {port: one}}"
    flavor = "{type: OS::Nova::Server, properties: {flavor: m1.tiny, image: cirros}}"
    with Sandbox() as sandbox:
        create_existing_objects(sandbox.cloud, lacking)
        for resource, word in ((flavor, "m1.tiny"), (balancer, "octavia"), (trunk, "trunk")):
            (files / "web.yaml").write_text(f"heat_template_version: 2021-04-16\nresources: {{one: {resource}}}\n")
            with pytest.raises(UserError, match=word):
                sandbox.check("web", "web.yaml")
        listed = sandbox.cloud.request("GET", "/compute/v2.1/flavors")["flavors"]
        assert [each["name"] for each in listed] == ["one"]


def test_existing_cloud_usage_is_counted() -> None:
    """Of a quota, a stack gets what is left; what this cloud has of the other one does not count twice."""
    section = {
        "only": True,
        "networks": {"dmz": {"cidr": "192.0.2.0/24"}},
        "flavors": {"one": {"extra_specs": {"hw:mem_page_size": "large"}}},
        "volume_types": {
            "fast": {"extra_specs": {"multiattach": "<is> True"}},
            "__DEFAULT__": {"extra_specs": {"a": "b"}},
        },
        "quotas": {"network": {"network": 3, "subnet": -1}, "volume": {"gigabytes": 40}, "compute": {"cores": 4}},
        "used": {"network": {"network": 1, "subnet": 1}, "volume": {"gigabytes": 35}, "compute": {"cores": 9}},
    }
    with Sandbox() as sandbox:
        create_existing_objects(sandbox.cloud, section)
        for number in range(2):
            sandbox.cloud.request("POST", "/network/v2.0/networks", {"network": {"name": str(number)}}, user="demo")
        with pytest.raises(Invalid, match="Quota exceeded"):
            sandbox.cloud.request("POST", "/network/v2.0/networks", {"network": {"name": "two"}}, user="demo")
        volumes = f"/volume/v3/{sandbox.cloud.project_id}"
        sandbox.cloud.request("POST", f"{volumes}/volumes", {"volume": {"size": 5}}, user="demo")
        with pytest.raises(Invalid, match="consumed"):
            sandbox.cloud.request("POST", f"{volumes}/volumes", {"volume": {"size": 1}}, user="demo")
        types = sandbox.cloud.request("GET", f"{volumes}/types")["volume_types"]
        assert {each["name"]: each["extra_specs"] for each in types}.items() >= {"__DEFAULT__": {"a": "b"}}.items()
        cores = sandbox.cloud.request("GET", f"/compute/v2.1/os-quota-sets/{sandbox.cloud.project_id}")
        assert cores["quota_set"]["cores"] == 0
        with pytest.raises(Invalid, match="no limit of ports"):
            sandbox.cloud.limit("network", {}, {"ports": 1})


def test_a_cloud_whose_usage_the_user_may_not_see(served: ServedCloud, files: Path) -> None:
    """Then the limits alone are read."""
    rule = {"on": "GET /compute/v2.1/os-quota-sets/*/detail", "do": "fail", "status": 403}
    served.do(lambda: served.cloud.faults.add(parse_fault(rule)))
    try:
        read = stoker("test", "--like", "real")
    finally:
        served.do(served.cloud.faults.clear)
    found = yaml.safe_load(read.output)
    assert (found["quotas"]["compute"]["instances"], "compute" in found["used"]) == (10, False)


def test_a_cloud_that_cannot_be_read(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OS_AUTH_URL", "OS_CLOUD"):
        monkeypatch.delenv(name, raising=False)
    unknown, none = stoker("test", "--like", "other"), stoker("test", "--like", "-")
    assert (unknown.exit_code, none.exit_code) == (1, 1)
    assert "other" in unknown.output and "OS_AUTH_URL" in none.output
    assert "Traceback" not in unknown.output
    assert stoker("test", "web.test.yaml", "--like", "real").exit_code == 2
