"""Instances of database servers, what is in them, backups, clusters and limits, over HTTP."""

from __future__ import annotations

from typing import Any

import openstack
import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import Answer, ServedCloud

SMALL = {"name": "db", "flavorRef": "84", "volume": {"size": 2}}
MEMBER = {"flavorRef": "84", "volume": {"size": 1}}
GALERA = {"name": "c", "datastore": {"type": "mariadb", "version": "10.4.18"}, "instances": [MEMBER] * 3}


class Trove:
    """A user of the database service."""

    def __init__(self, served: ServedCloud, user: str = "demo", project: str = "demo") -> None:
        self.served, self.user = served, user
        self.projects = {}
        for name in {project, user}:
            listed = served.call("GET", "/identity/v3/auth/projects", None, served.token(name, name)).json["projects"]
            self.projects[name] = next(one["id"] for one in listed if one["name"] == name)
        self.base = f"/database/v1.0/{self.projects[project]}"

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        return self.served.call(method, f"{self.base}{path}", body, self.served.token(self.user, self.user))

    def do(self, method: str, path: str, body: Any = None, status: int = 202) -> Any:
        """The body of an answer with this status; the time that the change takes has passed then."""
        answer = self.call(method, path, body)
        assert answer.status == status, answer.content
        self.served.advance(12)
        return answer.json if answer.content else None

    def show(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    def make(self, **fields: Any) -> str:
        return str(self.do("POST", "/instances", {"instance": {**SMALL, **fields}}, 200)["instance"]["id"])

    def instance(self, key: str) -> Any:
        return self.show(f"/instances/{key}")["instance"]

    def refused(self, method: str, path: str, body: Any, status: int, words: str) -> None:
        answer = self.call(method, path, body)
        assert answer.status == status, answer.content
        ((name, fault),) = answer.json.items()
        assert (name, fault["code"]) == (NAMES[status], status)
        assert words in fault["message"]


NAMES = {
    400: "badRequest", 403: "forbidden", 404: "itemNotFound", 409: "conflict", 413: "overLimit",
    422: "unprocessableEntity",
}  # fmt: skip


@pytest.fixture
def trove(served: ServedCloud) -> Trove:
    return Trove(served)


@pytest.fixture
def admin(served: ServedCloud) -> Trove:
    return Trove(served, "admin", "admin")


def test_versions_and_projects(served: ServedCloud, trove: Trove, admin: Trove) -> None:
    assert served.call("GET", "/database/").json["versions"][0]["id"] == "v1.0"
    assert served.call("GET", "/database/v1.0/").json["version"]["status"] == "CURRENT"
    assert served.call("GET", f"{trove.base}/instances").status == 401
    key = trove.make()
    trove.base, other = admin.base, trove.base
    trove.refused("GET", "/instances", None, 403, "cannot access tenant")
    trove.base = other
    assert admin.show("/instances") == {"instances": []}
    assert admin.instance(key)["tenant_id"] == trove.projects["demo"]
    assert [one["id"] for one in admin.show("/mgmt/instances")["instances"]] == [key]
    for method, path in (("GET", "/mgmt/instances"), ("GET", "/mgmt/quotas/x"), ("GET", "/mgmt/datastore-versions")):
        trove.refused(method, path, None, 403, "roles admin")
    foreign = admin.make()
    trove.refused("GET", f"/instances/{foreign}", None, 404, foreign)
    trove.refused("DELETE", f"/instances/{foreign}", None, 404, foreign)


def test_states_of_an_instance(served: ServedCloud, trove: Trove) -> None:
    made = trove.call("POST", "/instances", {"instance": SMALL}).json["instance"]
    path = f"/instances/{made['id']}"
    assert (made["status"], made["datastore"]["version"], made["flavor"]["id"]) == ("BUILD", "8.0.29", "84")
    trove.refused("POST", f"{path}/databases", {"databases": [{"name": "x"}]}, 422, "is not ready")
    served.advance(11)
    assert trove.instance(made["id"])["status"] == "ACTIVE"
    for action, status in (
        ({"restart": {}}, "REBOOT"),
        ({"resize": {"flavorRef": "d1"}}, "RESIZE"),
        ({"resize": {"volume": {"size": 3}}}, "RESIZE"),
    ):
        assert trove.call("POST", f"{path}/action", action).status == 202
        assert trove.instance(made["id"])["status"] == status
        trove.refused("POST", f"{path}/action", action, 422, f"status was {status}")
        trove.refused("DELETE", path, None, 422, f"status was {status}")
        served.advance(6)
    now = trove.instance(made["id"])
    assert (now["status"], now["flavor"]["id"], now["volume"]["size"]) == ("ACTIVE", "d1", 3)
    for action, words in (
        ({"resize": {"flavorRef": "d1"}}, "must be different"),
        ({"resize": {"volume": {"size": 3}}}, "must be larger than the current volume size of '3'"),
        ({"resize": {}}, "either flavorRef or volume"),
        ({"dance": {}}, "'dance' is not supported"),
        ({}, "one action"),
    ):
        trove.refused("POST", f"{path}/action", action, 400, words)
    trove.refused("POST", f"{path}/action", {"resize": {"flavorRef": "nope"}}, 400, "Resource nope")
    assert trove.call("DELETE", path).status == 202
    assert trove.instance(made["id"])["status"] == "SHUTDOWN"
    served.advance(4)
    trove.refused("GET", path, None, 404, "cannot be found")


def test_an_instance_that_fails(served: ServedCloud, trove: Trove, admin: Trove) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on="POST /database/*", do="error_state", message="no host")))
    key = trove.make()
    served.do(lambda: served.cloud.faults.clear())
    shown = trove.instance(key)
    assert (shown["status"], shown["fault"]["message"]) == ("ERROR", "no host")
    trove.refused("POST", f"/instances/{key}/root", None, 422, "status was ERROR")
    trove.do("DELETE", f"/instances/{key}")
    key = trove.call("POST", "/instances", {"instance": SMALL}).json["instance"]["id"]
    trove.refused("POST", f"/instances/{key}/action", {"reset_status": {}}, 403, "roles admin")
    admin.do("POST", f"/instances/{key}/action", {"reset_status": {}})
    assert trove.instance(key)["status"] == "ERROR"


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"name": ""}, 400, "instance['name']"),
        ({"flavorRef": None}, 400, "Resource None cannot be found"),
        ({"flavorRef": "nope"}, 400, "Resource nope cannot be found"),
        ({"volume": None}, 400, "Volume size was not specified"),
        ({"volume": {"size": 0}}, 400, "volume['size']"),
        ({"volume": {"size": 41}}, 413, "Quota exceeded for resources: ['volumes']"),
        ({"modules": [{"id": "x"}]}, 400, "not supported by the emulated cloud"),
        ({"datastore": {"version": "1"}}, 400, "Datastore type must be specified"),
        ({"datastore": {"type": "oracle"}}, 404, "Datastore 'oracle' cannot be found"),
        ({"datastore": {"type": "mysql", "version": "1"}}, 400, "Datastore version '1' cannot be found"),
        ({"nics": [{}]}, 400, "net-id or port-id"),
        ({"databases": [{"name": "mysql"}]}, 400, "reserved"),
        ({"databases": [{"name": "a"}, {"name": "a"}]}, 400, "share the same name"),
        ({"users": [{"name": "a"}]}, 400, "'password' is a required property"),
        ({"users": [{"name": "root", "password": "x"}]}, 400, "reserved"),
        ({"users": [{"name": "a", "password": 4711}]}, 400, "['users'][0]['password'] is not a string with characters"),
        ({"restorePoint": {"backupRef": "nope"}}, 404, "Resource nope cannot be found"),
        ({"replica_of": "nope"}, 400, "Cannot specify flavor when creating replicas"),
        ({"replica_count": 2}, 400, "requires an instance to replicate"),
        ({"configuration": "nope"}, 404, "Configuration group with ID nope could not"),
    ],
)
def test_refused_instances(trove: Trove, fields: dict[str, Any], status: int, words: str) -> None:
    trove.refused("POST", "/instances", {"instance": {**SMALL, **fields}}, status, words)
    assert trove.show("/instances") == {"instances": []}


def test_addresses(served: ServedCloud, trove: Trove) -> None:
    def network(method: str, path: str, body: Any = None) -> Any:
        answer = served.call(method, f"/network/v2.0{path}", body, served.token("demo", "demo"))
        assert answer.status in (200, 201, 204), answer.content
        return answer.json if answer.content else None

    net = network("POST", "/networks", {"network": {"name": "n"}})["network"]["id"]
    subnet = {"network_id": net, "cidr": "10.61.0.0/24", "ip_version": 4}
    network("POST", "/subnets", {"subnet": subnet})
    port = network("POST", "/ports", {"port": {"network_id": net}})["port"]
    key = trove.make(nics=[{"net-id": net, "v4-fixed-ip": "10.61.0.9"}, {"port-id": port["id"]}])
    shown = trove.instance(key)
    assert shown["ip"] == ["10.61.0.9", port["fixed_ips"][0]["ip_address"]]
    assert shown["addresses"][0] == {"address": "10.61.0.9", "type": "private", "network": net}
    request_body = {"instance": {**SMALL, "nics": [{"port-id": port["id"]}]}}
    trove.refused("POST", "/instances", request_body, 400, f"is in use by {key}")
    before = len(network("GET", "/ports")["ports"])
    request_body = {"instance": {**SMALL, "nics": [{"net-id": net}, {"net-id": net, "v4-fixed-ip": "10.61.0.9"}]}}
    trove.refused("POST", "/instances", request_body, 400, "cannot be connected")
    assert len(network("GET", "/ports")["ports"]) == before
    trove.do("DELETE", f"/instances/{key}")
    left = network("GET", f"/ports?network_id={net}&device_owner=compute:nova")["ports"]
    assert left == []
    assert network("GET", f"/ports/{port['id']}")["port"]["device_id"] == ""


def test_databases_and_users(trove: Trove) -> None:
    key = trove.make(databases=[{"name": "a"}], users=[{"name": "u", "password": "p", "databases": [{"name": "a"}]}])
    path = f"/instances/{key}"
    trove.do("POST", f"{path}/databases", {"databases": [{"name": "b"}, {"name": "c"}]})
    trove.refused("POST", f"{path}/databases", {"databases": [{"name": "b"}]}, 400, "already exists")
    trove.refused("POST", f"{path}/databases", {"databases": []}, 400, "not empty")
    first = trove.show(f"{path}/databases?limit=2")
    assert first["databases"] == [{"name": "a"}, {"name": "b"}]
    following = first["links"][0]["href"].partition(path)[2]
    assert trove.show(f"{path}{following}") == {"databases": [{"name": "c"}]}
    trove.do("POST", f"{path}/users", {"users": [{"name": "u", "password": "q", "host": "10.0.0.1"}]})
    assert [one["host"] for one in trove.show(f"{path}/users")["users"]] == ["%", "10.0.0.1"]
    user = f"{path}/users/u%2540%31%30%252e0%252e0%252e1"
    assert trove.show(user)["user"] == {"name": "u", "host": "10.0.0.1", "databases": []}
    trove.do("PUT", f"{user}/databases", {"databases": [{"name": "a"}, {"name": "b"}]})
    trove.do("DELETE", f"{user}/databases/a")
    assert trove.show(f"{user}/databases") == {"databases": [{"name": "b"}]}
    trove.refused("DELETE", f"{user}/databases/a", None, 404, 'Database "a"')
    trove.refused("PUT", f"{user}/databases", {"databases": [{"name": "z"}]}, 404, 'Database "z"')
    trove.refused("PUT", user, {"user": {"host": "%"}}, 400, "already exists")
    trove.do("PUT", user, {"user": {"name": "v", "host": "%", "password": "r"}})
    assert trove.show(f"{path}/users/v")["user"]["databases"] == [{"name": "b"}]
    trove.do("PUT", f"{path}/users", {"users": [{"name": "v", "password": "s"}]})
    trove.do("DELETE", f"{path}/databases/b")
    assert trove.show(f"{path}/users/v")["user"]["databases"] == []
    trove.do("DELETE", f"{path}/users/v")
    trove.refused("GET", f"{path}/users/v", None, 404, 'User "v"')
    trove.refused("DELETE", f"{path}/databases/b", None, 404, 'Database "b"')
    assert trove.show(f"{path}/root") == {"rootEnabled": False}
    assert trove.do("POST", f"{path}/root", {"password": "s3cret"}, 200)["user"] == {
        "name": "root",
        "password": "s3cret",
    }
    assert b"4711" not in trove.call("POST", f"{path}/root", {"password": 4711}).content
    assert len(trove.do("POST", f"{path}/root", None, 200)["user"]["password"]) > 20
    assert trove.show(f"{path}/root") == {"rootEnabled": True}
    trove.do("DELETE", f"{path}/root", None, 204)
    assert trove.show(f"{path}/root") == {"rootEnabled": False}


def test_replicas(trove: Trove) -> None:
    source = trove.make(databases=[{"name": "a"}])
    body = {"name": "copy", "replica_of": source, "replica_count": 2}
    first = trove.do("POST", "/instances", {"instance": body}, 200)["instance"]["id"]
    trove.refused("POST", "/instances", {"instance": {**body, "volume": {"size": 1}}}, 400, "Cannot specify volume")
    replicas = [one["id"] for one in trove.instance(source)["replicas"]]
    assert first == replicas[0]
    assert [trove.instance(key)["name"] for key in replicas] == ["copy-1", "copy-2"]
    assert trove.show(f"/instances/{first}/databases") == {"databases": [{"name": "a"}]}
    trove.refused("DELETE", f"/instances/{source}", None, 403, "without detaching the replicas")
    again = {"instance": {"name": "again", "replica_of": first}}
    trove.refused("POST", "/instances", again, 403, "replica of a replica")
    trove.do("POST", f"/instances/{replicas[1]}/action", {"promote_to_replica_source": {}})
    assert trove.instance(source)["replica_of"]["id"] == trove.instance(first)["replica_of"]["id"] == replicas[1]
    trove.do("PATCH", f"/instances/{source}", {"instance": {"replica_of": ""}})
    assert "replica_of" not in trove.instance(source)
    trove.do("POST", f"/instances/{replicas[1]}/action", {"eject_replica_source": {}})
    assert "replica_of" not in trove.instance(first)
    trove.refused("POST", f"/instances/{first}/action", {"promote_to_replica_source": {}}, 400, "not a replica")
    for key in (source, *replicas):
        trove.do("DELETE", f"/instances/{key}")


def test_backups(trove: Trove) -> None:
    source = trove.make(databases=[{"name": "a"}])
    strategy = {"backup_strategy": {"instance_id": source, "swift_container": "mine"}}
    trove.do("POST", "/backup_strategies", strategy)
    made = trove.call("POST", "/backups", {"backup": {"name": "b", "instance": source}})
    key = made.json["backup"]["id"]
    assert (made.status, made.json["backup"]["status"]) == (202, "BUILDING")
    assert trove.instance(source)["status"] == "BACKUP"
    restored = {"instance": {**SMALL, "restorePoint": {"backupRef": key}}}
    trove.refused("POST", "/instances", restored, 409, "Actual state: BUILDING")
    trove.refused("DELETE", f"/backups/{key}", None, 422, "BUILDING")
    trove.served.advance(6)
    shown = trove.show(f"/backups/{key}")["backup"]
    assert (shown["status"], shown["size"], "/mine/" in shown["locationRef"]) == ("COMPLETED", 2, True)
    assert trove.instance(source)["status"] == "ACTIVE"
    child = trove.do("POST", "/backups", {"backup": {"name": "i", "instance": source, "incremental": 1}})["backup"]
    assert child["parent_id"] == key
    small = {"instance": {**SMALL, "volume": {"size": 1}, "restorePoint": {"backupRef": key}}}
    trove.refused("POST", "/instances", small, 403, "Backup is too large")
    copy = trove.make(restorePoint={"backupRef": key}, databases=[{"name": "b"}])
    assert trove.show(f"/instances/{copy}/databases")["databases"] == [{"name": "a"}, {"name": "b"}]
    assert len(trove.show(f"/instances/{source}/backups")["backups"]) == 2
    assert trove.show(f"/backups?instance_id={copy}")["backups"] == []
    trove.do("DELETE", f"/backups/{key}")
    assert trove.show("/backups") == {"backups": []}
    assert len(trove.show("/backup_strategies")["backup_strategies"]) == 1
    trove.do("DELETE", f"/backup_strategies?instance_id={source}")
    trove.refused("DELETE", f"/backup_strategies?instance_id={source}", None, 404, "backup strategy")


def test_configuration_groups(trove: Trove) -> None:
    key = trove.make()
    given = {"name": "g", "values": {"max_connections": 20}, "datastore": {"type": "mysql", "version": "8.0.29"}}
    group = trove.do("POST", "/configurations", {"configuration": given}, 200)["configuration"]["id"]
    for values, words in (
        ({"nope": 1}, "nope is not supported"),
        ({"max_connections": "x"}, "not of type integer"),
        ({"max_connections": 0}, "must be from 1 to 100000"),
    ):
        trove.refused("PATCH", f"/configurations/{group}", {"configuration": {"values": values}}, 422, words)
    trove.do("PUT", f"/instances/{key}", {"instance": {"configuration": group}})
    assert trove.instance(key)["configuration"]["name"] == "g"
    assert [one["id"] for one in trove.show(f"/configurations/{group}/instances")["instances"]] == [key]
    trove.refused("DELETE", f"/configurations/{group}", None, 400, "associated with one or more")
    larger = {"configuration": {"values": {"innodb_buffer_pool_size": 9000000}}}
    after = trove.do("PATCH", f"/configurations/{group}", larger, 200)["configuration"]
    assert after["values"] == {"max_connections": 20, "innodb_buffer_pool_size": 9000000}
    assert trove.instance(key)["status"] == "RESTART_REQUIRED"
    trove.do("POST", f"/instances/{key}/action", {"restart": {}})
    assert trove.instance(key)["status"] == "ACTIVE"
    trove.do("PUT", f"/configurations/{group}", {"configuration": {"values": {}}})
    trove.do("PUT", f"/instances/{key}", {"instance": {}})
    assert "configuration" not in trove.instance(key)
    assert trove.show(f"/configurations/{group}")["configuration"]["instance_count"] == 0
    trove.do("DELETE", f"/configurations/{group}")
    other = {**given, "datastore": {"type": "postgresql"}, "values": {"work_mem": 4096}}
    group = trove.do("POST", "/configurations", {"configuration": other}, 200)["configuration"]["id"]
    trove.refused("PATCH", f"/instances/{key}", {"instance": {"configuration": group}}, 400, "does not match")
    assert trove.show(f"/instances/{key}/configuration")["instance"]["configuration"]["max_connections"] == 100


def test_datastores_and_flavors(trove: Trove, admin: Trove) -> None:
    names = [one["name"] for one in trove.show("/datastores")["datastores"]]
    assert names == ["mysql", "mariadb", "postgresql"]
    store = trove.show("/datastores/mysql")["datastore"]
    versions = trove.show(f"/datastores/{store['id']}/versions")["versions"]
    assert [one["name"] for one in versions] == ["8.0.29", "5.7.29"]
    assert store["default_version"] == versions[0]["id"]
    parameters = trove.show(f"/datastores/versions/{versions[0]['id']}/parameters")["configuration-parameters"]
    path = "/datastores/mysql/versions/8.0.29/parameters"
    assert trove.show(f"{path}/wait_timeout") in parameters
    trove.refused("GET", f"{path}/nope", None, 404, "nope")
    new = {"datastore_name": "mysql", "datastore_manager": "mysql", "name": "9", "image": "i", "active": False}
    admin.do("POST", "/mgmt/datastore-versions", {"version": new})
    admin.refused("POST", "/mgmt/datastore-versions", {"version": new}, 409, "already exists")
    assert len(trove.show("/datastores/mysql/versions")["versions"]) == 2
    key = admin.show("/mgmt/datastore-versions")["versions"][-1]["id"]
    admin.do("PATCH", f"/mgmt/datastore-versions/{key}", {"active": True, "default": True})
    assert trove.instance(trove.make())["datastore"]["version"] == "9"
    flavors = {one["name"]: one for one in trove.show("/flavors")["flavors"]}
    assert (flavors["m1.micro"]["id"], flavors["ds1G"]["id"], flavors["ds1G"]["str_id"]) == (84, None, "d2")
    assert trove.show("/flavors/84")["flavor"] == flavors["m1.micro"]


def test_clusters(trove: Trove) -> None:
    for changes, words in (
        ({"datastore": {"type": "mysql"}}, "Clusters not supported for mysql-8.0.29"),
        ({"instances": [MEMBER]}, "must be at least 3"),
        ({"instances": [{"flavorRef": "84"}] * 3}, "'volume' is a required property"),
    ):
        trove.refused("POST", "/clusters", {"cluster": {**GALERA, **changes}}, 400, words)
    made = trove.call("POST", "/clusters", {"cluster": GALERA})
    key = made.json["cluster"]["id"]
    assert (made.status, made.json["cluster"]["task"]["name"]) == (202, "BUILDING")
    trove.refused("DELETE", f"/clusters/{key}", None, 422, "current task (BUILDING)")
    trove.served.advance(11)
    assert trove.show("/instances") == {"instances": []}
    members = trove.show("/instances?include_clustered=true")["instances"]
    trove.refused("DELETE", f"/instances/{members[0]['id']}", None, 403, "part of a cluster")
    trove.do("POST", f"/clusters/{key}", {"grow": [MEMBER]})
    cluster = trove.show(f"/clusters/{key}")["cluster"]
    assert (cluster["task"]["name"], len(cluster["instances"])) == ("NONE", 4)
    trove.refused("POST", f"/clusters/{key}", {"shrink": [{"id": "nope"}]}, 404, "nope")
    trove.do("POST", f"/clusters/{key}", {"shrink": [{"id": cluster["instances"][3]["id"]}]})
    assert trove.show("/clusters")["clusters"][0]["instances"] == cluster["instances"][:3]
    trove.do("POST", f"/clusters/{key}/root", None, 200)
    assert trove.show(f"/clusters/{key}/root") == {"rootEnabled": True}
    trove.do("DELETE", f"/clusters/{key}")
    trove.refused("GET", f"/clusters/{key}", None, 404, key)
    assert trove.show("/instances?include_clustered=true")["instances"] == []


def test_quotas_and_pages(trove: Trove, admin: Trove) -> None:
    path = f"/mgmt/quotas/{trove.projects['demo']}"
    admin.refused("PUT", path, {"quotas": {"cats": 1}}, 404, "resources cats")
    assert admin.do("PUT", path, {"quotas": {"instances": 3, "volumes": -1}}, 200)["quotas"]["instances"] == 3
    keys = [trove.make(name=f"n{number}") for number in range(3)]
    trove.refused("POST", "/instances", {"instance": SMALL}, 413, "['instances']")
    trove.refused("POST", "/clusters", {"cluster": GALERA}, 413, "['instances']")
    used = {one["resource"]: one["in_use"] for one in admin.show(path)["quotas"]}
    assert used == {"instances": 3, "ram": 768, "volumes": 6, "backups": 0}
    assert trove.show("/limits")["limits"][0]["max_instances"] == 3
    first = trove.show("/instances?limit=2")
    assert [one["id"] for one in first["instances"]] == keys[:2]
    following = first["links"][0]["href"].partition("/instances")[2]
    last = trove.show(f"/instances{following}")
    assert ([one["id"] for one in last["instances"]], "links" in last) == (keys[2:], False)
    assert trove.show("/instances?marker=nope") == trove.show("/instances")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")  # the SDK's own
def test_openstacksdk(served: ServedCloud, trove: Trove) -> None:
    connection = openstack.connect(
        auth_url=f"{served.url}/identity", username="demo", password="secret", project_name="demo",
        user_domain_id="default", project_domain_id="default", region_name="RegionOne",
    )  # fmt: skip
    service = connection.database
    assert "m1.micro" in {one.name for one in service.flavors()}
    key = trove.make(name="sdk", volume={"size": 1}, databases=[{"name": "shop"}])
    assert service.get_instance(key).status == "ACTIVE"
    assert [one.name for one in service.databases(key)] == ["shop"]
    for number in range(7):
        trove.make(name=f"n{number}", volume={"size": 1})
    assert len(list(service.instances(limit=3))) == 8
    service.delete_instance(key)
    served.advance(4)
    assert service.find_instance("sdk") is None
