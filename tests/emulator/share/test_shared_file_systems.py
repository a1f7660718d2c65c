"""The shared file systems service over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.share.rules.types import ABILITIES
from openstack_emulator.testing import Answer, ServedCloud

VERSION = "X-OpenStack-Manila-API-Version"
NEWEST = "2.78"


class Manila:
    """A user of the shared file systems service."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served, self.user = served, user

    def call(self, method: str, path: str, body: Any = None, version: str = NEWEST) -> Answer:
        token = self.served.token(self.user, self.user)
        return self.served.call(method, f"/share/v2{path}", body, token, {VERSION: version})

    def send(self, method: str, path: str, body: Any = None, version: str = NEWEST) -> Any:
        """The object in the answer, or the list; {} for an empty answer."""
        answer = self.call(method, path, body, version)
        assert answer.status in (200, 202), answer.content
        return next(iter(answer.json.values())) if answer.content else {}

    def refused(self, method: str, path: str, body: Any = None, version: str = NEWEST) -> tuple[int, str]:
        """The status and message of an error."""
        answer = self.call(method, path, body, version)
        ((_, error),) = answer.json.items()
        assert error["code"] == answer.status
        return answer.status, error["message"]

    def share(self, **fields: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.send("POST", "/shares", {"share": {"share_proto": "nfs", "size": 1, **fields}})
        self.served.advance(1)
        return made

    def names(self, path: str, version: str = NEWEST) -> list[str]:
        return [row["name"] for row in self.send("GET", path, None, version)]


@pytest.fixture
def demo(served: ServedCloud) -> Manila:
    return Manila(served)


@pytest.fixture
def admin(served: ServedCloud) -> Manila:
    return Manila(served, "admin")


def test_a_share_is_built_resized_and_deleted(demo: Manila, admin: Manila, served: ServedCloud) -> None:
    made = demo.send("POST", "/shares", {"share": {"share_proto": "nfs", "size": 1, "metadata": {"a": "b"}}})
    path = f"/shares/{made['id']}"
    assert (made["status"], made["share_proto"], made["share_type_name"]) == ("creating", "NFS", "default")
    assert demo.send("GET", f"{path}/export_locations") == []
    assert demo.refused("DELETE", path)[0] == 403
    served.advance(1)
    assert made["availability_zone"] is None, "the scheduler chooses it"
    ready = demo.send("GET", path)
    assert (ready["status"], ready["availability_zone"]) == ("available", "nova")
    (export,) = demo.send("GET", f"{path}/export_locations")
    assert export["path"] == f"10.254.0.3:/shares/share-{made['id']}"
    located = demo.send("GET", f"{path}/export_locations/{export['id']}")
    assert located["path"] == export["path"]

    for size, action in ((3, "extend"), (2, "shrink")):
        assert demo.call("POST", f"{path}/action", {action: {"new_size": size}}).status == 202
        assert demo.refused("POST", f"{path}/action", {action: {"new_size": size}})[0] == 400
        served.advance(1)
        assert (demo.send("GET", path)["status"], demo.send("GET", path)["size"]) == ("available", size)
    assert demo.refused("POST", f"{path}/action", {"extend": {"new_size": 2}})[0] == 400
    assert demo.refused("POST", f"{path}/action", {"extend": {"new_size": 2000}})[0] == 403
    assert demo.refused("POST", f"{path}/action", {"levitate": None})[0] == 400

    assert demo.send("POST", f"{path}/metadata", {"metadata": {"c": "d"}}) == {"a": "b", "c": "d"}
    assert demo.send("PUT", f"{path}/metadata", {"metadata": {"e": "f"}}) == {"e": "f"}
    assert demo.call("DELETE", f"{path}/metadata/e").status == 200
    assert demo.refused("GET", f"{path}/metadata/e")[0] == 404

    assert demo.refused("POST", f"{path}/action", {"reset_status": {"status": "error"}})[0] == 403
    assert admin.call("POST", f"{path}/action", {"reset_status": {"status": "error"}}).status == 202
    assert demo.call("DELETE", path).status == 202
    assert demo.send("GET", path)["status"] == "deleting"
    served.advance(1)
    assert demo.refused("GET", path) == (404, "The resource could not be found.")


def test_invalid_shares_are_refused(demo: Manila, admin: Manila) -> None:
    for fields, status in (
        ({"size": 0}, 400),
        ({"size": "many"}, 400),
        ({"share_proto": "AFS"}, 400),
        ({"size": 1001}, 413),
        ({"share_type": "nothing"}, 404),
        ({"snapshot_id": "nothing"}, 404),
        ({"share_network_id": "nothing"}, 404),
        ({"availability_zone": "moon"}, 404),
        ({"share_type": "dhss_true"}, 400),
        ({"is_public": True}, 403),
        ({"metadata": {"a": 1}}, 400),
        ({"share_group_id": "g"}, 404),
    ):
        body = {"share": {"share_proto": "NFS", "size": 1, **fields}}
        assert demo.refused("POST", "/shares", body)[0] == status, fields
    assert demo.names("/shares") == []
    shared = admin.share(is_public=True, name="all")
    assert demo.send("GET", f"/shares/{shared['id']}")["name"] == "all"
    assert (demo.names("/shares"), demo.names("/shares?is_public=true")) == ([], ["all"])
    assert demo.refused("PUT", f"/shares/{shared['id']}", {"share": {"display_name": "x"}})[0] == 403
    own = demo.share(name="own")
    assert demo.refused("PUT", f"/shares/{own['id']}", {"share": {"is_public": True}})[0] == 403
    assert demo.send("PUT", f"/shares/{own['id']}", {"share": {"display_name": "new"}})["name"] == "new"
    assert sorted(admin.names("/shares?all_tenants=1")) == ["all", "new"]


def test_fields_by_microversion(demo: Manila, admin: Manila, served: ServedCloud) -> None:
    share = demo.share(name="one")
    old, new = (demo.send("GET", f"/shares/{share['id']}", None, version) for version in ("2.8", NEWEST))
    assert old["export_location"] and "export_location" not in new
    assert {"user_id", "progress", "mount_snapshot_support"} <= new.keys() - old.keys()
    assert "host" not in new and admin.send("GET", f"/shares/{share['id']}")["host"] == "devstack@generic#pool"
    assert demo.refused("GET", f"/shares/{share['id']}/export_locations", None, "2.8")[0] == 404
    assert demo.refused("GET", "/shares", None, "2.999")[0] == 406
    assert demo.call("GET", "/shares", None, "2.13").headers[VERSION.lower()] == "2.13"
    assert served.call("GET", "/share/v2/", headers={VERSION: "2.999"}).status == 406
    document = served.call("GET", "/share/v2/", headers={VERSION: NEWEST})
    (version,) = document.json["versions"]
    assert (document.status, version["version"], version["min_version"]) == (200, NEWEST, "2.7")
    assert served.call("GET", "/share/").status == 300


def test_the_recycle_bin(demo: Manila, served: ServedCloud) -> None:
    share = demo.share(name="one")
    path, action = f"/shares/{share['id']}", f"/shares/{share['id']}/action"
    assert demo.refused("POST", action, {"soft_delete": None}, "2.68")[0] == 400
    assert demo.refused("POST", action, {"restore": None})[0] == 403
    assert demo.call("POST", action, {"soft_delete": None}).status == 202
    assert (demo.names("/shares"), demo.names("/shares?is_soft_deleted=true")) == ([], ["one"])
    assert demo.refused("POST", action, {"extend": {"new_size": 2}})[0] == 403
    assert demo.call("POST", action, {"restore": None}).status == 202
    served.advance(6 * 24 * 3600)
    assert demo.call("POST", action, {"soft_delete": None}).status == 202
    served.advance(2 * 24 * 3600)
    assert demo.send("GET", path)["is_soft_deleted"] is True
    served.advance(6 * 24 * 3600)
    assert demo.refused("GET", path)[0] == 404


def test_sizes_by_share_type(demo: Manila, admin: Manila) -> None:
    sizes = {"min_share_size": "2", "max_share_size": "4", "max_share_extend_size": "5"}
    specs = {f"provisioning:{name}": value for name, value in sizes.items()}
    admin.send(
        "POST",
        "/types",
        {"share_type": {"name": "sized", "extra_specs": {"driver_handles_share_servers": False, **specs}}},
    )
    for size, status in ((1, 400), (5, 400), (4, 200)):
        body = {"share": {"share_proto": "NFS", "size": size, "share_type": "sized"}}
        answer = demo.call("POST", "/shares", body)
        assert answer.status == status
    demo.served.advance(1)
    action = f"/shares/{answer.json['share']['id']}/action"
    assert [demo.call("POST", action, {"extend": {"new_size": size}}).status for size in (6, 5)] == [400, 202]


def test_access_rules(demo: Manila, admin: Manila, served: ServedCloud) -> None:
    share = demo.share()
    action = f"/shares/{share['id']}/action"

    def allow(kind: str, target: str, version: str = NEWEST, **more: Any) -> Answer:
        body = {"access_type": kind, "access_to": target, **more}
        return demo.call("POST", action, {"allow_access": body}, version)

    rule = allow("ip", "10.0.0.0/24", access_level="ro").json["access"]
    assert (rule["state"], rule["access_level"]) == ("queued_to_apply", "ro")
    assert demo.send("GET", f"/shares/{share['id']}")["access_rules_status"] == "syncing"
    old = demo.send("POST", action, {"access_list": None}, "2.13")
    assert [row["state"] for row in old] == ["new"]
    served.advance(1)
    assert demo.send("GET", f"/share-access-rules/{rule['id']}")["state"] == "active"
    assert demo.send("GET", f"/shares/{share['id']}")["access_rules_status"] == "active"
    for kind, target, version in (
        ("ip", "10.0.0.0/24", NEWEST), ("ip", "10.0.0.900", NEWEST), ("ip", "fd00::1", "2.37"), ("user", "ann", NEWEST),
        ("cert", "x" * 65, NEWEST), ("cephx", "client.a", NEWEST), ("nis", "x", NEWEST),
    ):  # fmt: skip
        assert allow(kind, target, version).status == 400, (kind, target)
    assert allow("ip", "10.0.0.1", access_level="all").status == 400
    assert allow("ip", "fd00::1").status == allow("user", "anna").status == allow("cephx", "ann").status == 200
    assert demo.refused("POST", action, {"access_list": None}, "2.45")[0] == 400
    listed = demo.send("GET", f"/share-access-rules?share_id={share['id']}")
    assert [row["access_type"] for row in listed] == ["ip", "ip", "user", "cephx"]
    body = {"metadata": {"a": "b"}}
    assert demo.send("PUT", f"/share-access-rules/{rule['id']}/metadata", body) == {"a": "b"}
    assert demo.call("DELETE", f"/share-access-rules/{rule['id']}/metadata/a").status == 200
    assert admin.send("GET", f"/share-access-rules/{rule['id']}")["metadata"] == {}
    assert demo.call("POST", action, {"deny_access": {"access_id": rule["id"]}}).status == 202
    served.advance(1)
    assert demo.refused("GET", f"/share-access-rules/{rule['id']}")[0] == 404
    assert demo.refused("POST", action, {"deny_access": {"access_id": rule["id"]}})[0] == 404


def test_snapshots(demo: Manila, admin: Manila, served: ServedCloud) -> None:
    share = demo.share(size=2)
    snapshot = demo.send("POST", "/snapshots", {"snapshot": {"share_id": share["id"], "name": "one",
                                                              "metadata": {"a": "b"}}})  # fmt: skip
    path = f"/snapshots/{snapshot['id']}"
    assert demo.send("PUT", f"{path}/metadata", {"metadata": {"c": "d"}}) == {"c": "d"}
    assert (snapshot["status"], snapshot["share_size"]) == ("creating", 2)
    assert demo.refused("DELETE", path)[0] == 403
    served.advance(1)
    assert demo.send("GET", f"{path}/export-locations") == []
    copy = demo.share(snapshot_id=snapshot["id"], size=3)
    assert demo.send("GET", f"/shares/{copy['id']}")["snapshot_id"] == snapshot["id"]
    body = {"share": {"share_proto": "NFS", "size": 1, "snapshot_id": snapshot["id"]}}
    assert demo.refused("POST", "/shares", body)[0] == 400
    assert demo.refused("DELETE", f"/shares/{share['id']}")[0] == 403
    demo.call("POST", f"/shares/{share['id']}/action", {"extend": {"new_size": 5}})
    served.advance(1)
    revert = {"revert": {"snapshot_id": snapshot["id"]}}
    assert demo.call("POST", f"/shares/{share['id']}/action", revert).status == 202
    served.advance(1)
    assert demo.send("GET", f"/shares/{share['id']}")["size"] == 2
    assert demo.send("PUT", path, {"snapshot": {"display_name": "two"}})["name"] == "two"
    assert demo.names("/snapshots?name=two") == ["two"]
    assert admin.call("POST", f"{path}/action", {"force_delete": None}).status == 202
    served.advance(1)
    assert demo.refused("GET", path)[0] == 404
    specs = {"driver_handles_share_servers": False, "snapshot_support": False}
    admin.send("POST", "/types", {"share_type": {"name": "plain", "extra_specs": specs}})
    plain = demo.share(share_type="plain")
    assert demo.refused("POST", "/snapshots", {"snapshot": {"share_id": plain["id"]}})[0] == 422


def test_share_networks_and_security_services(demo: Manila, served: ServedCloud) -> None:
    def network(path: str, name: str) -> dict[str, Any]:
        listed = served.call("GET", f"/network/v2.0/{path}?name={name}", token=served.token("demo", "demo")).json
        found: dict[str, Any] = listed[path][0]
        return found

    place = {
        "neutron_net_id": network("networks", "private")["id"],
        "neutron_subnet_id": network("subnets", "private-subnet")["id"],
    }
    half = {"share_network": {"neutron_net_id": place["neutron_net_id"]}}
    assert demo.refused("POST", "/share-networks", half)[0] == 400
    made = demo.send("POST", "/share-networks", {"share_network": {"name": "n"}}, "2.13")
    path = f"/share-networks/{made['id']}"
    assert (made["neutron_net_id"], made["cidr"]) == (None, None)
    assert demo.send("PUT", path, {"share_network": place}, "2.13")["neutron_net_id"] == place["neutron_net_id"]

    services = [
        demo.send("POST", "/security-services", {"security_service": {"type": kind, "name": kind, "ou": "x"}})["id"]
        for kind in ("ldap", "ldap", "kerberos")
    ]
    assert demo.refused("POST", "/security-services", {"security_service": {"type": "nis"}})[0] == 400
    assert demo.send("GET", f"/security-services/{services[0]}")["ou"] == "x"
    assert "ou" not in demo.send("GET", f"/security-services/{services[0]}", None, "2.13")

    def use(action: str, key: str) -> Answer:
        return demo.call("POST", f"{path}/action", {f"{action}_security_service": {"security_service_id": key}})

    codes = [use("add", key).status for key in (services[0], services[1], services[2], "nothing")]
    assert codes == [200, 409, 200, 404]
    assert use("remove", services[1]).status == 400
    assert demo.refused("DELETE", f"/security-services/{services[0]}")[0] == 403
    assert demo.names(f"/security-services?share_network_id={made['id']}") == ["kerberos", "ldap"]
    assert demo.names(f"/share-networks/detail?security_service_id={services[0]}") == ["n"]

    share = demo.share(share_network_id=made["id"], share_type="dhss_true")
    (subnet,) = demo.send("GET", path)["share_network_subnets"]
    assert (subnet["cidr"], subnet["ip_version"], subnet["network_type"]) == (
        network("subnets", "private-subnet")["cidr"], 4, "vxlan",
    )  # fmt: skip
    assert use("remove", services[0]).status == 403
    assert demo.refused("PUT", path, {"share_network": place})[0] == 403
    assert demo.refused("PUT", f"/security-services/{services[0]}", {"security_service": {"user": "u"}})[0] == 403
    assert demo.refused("DELETE", path)[0] == 409
    assert demo.send("POST", f"{path}/subnets", {"share-network-subnet": {"availability_zone": "nova"}})["id"]
    again = {"share-network-subnet": {"availability_zone": "nova", "metadata": {"a": "b"}}}
    assert demo.refused("POST", f"{path}/subnets", again, "2.69")[0] == 409
    second = f"{path}/subnets/{demo.send('POST', f'{path}/subnets', again)['id']}"
    assert demo.send("POST", f"{second}/metadata", {"metadata": {"c": "d"}}) == {"a": "b", "c": "d"}
    assert demo.send("GET", second)["metadata"] == {"a": "b", "c": "d"}
    assert demo.call("DELETE", second).status == 202
    assert demo.refused("DELETE", f"{path}/subnets/{subnet['id']}")[0] == 409
    assert demo.refused("GET", f"{path}/subnets", None, "2.50")[0] == 404
    demo.call("DELETE", f"/shares/{share['id']}")
    served.advance(1)
    assert demo.refused("DELETE", path)[0] == 409
    assert demo.call("DELETE", f"{path}/subnets/{subnet['id']}").status == 202
    assert demo.call("DELETE", path).status == 202
    assert demo.call("DELETE", f"/security-services/{services[0]}").status == 202

    nowhere = demo.send("POST", "/share-networks", {"share_network": {"name": "nowhere"}})
    lost = demo.share(share_network_id=nowhere["id"], share_type="dhss_true")
    assert demo.send("GET", f"/shares/{lost['id']}")["status"] == "error"


def test_share_types(demo: Manila, admin: Manila) -> None:
    specs = {"driver_handles_share_servers": "false", "tier": "gold"}
    body = {"share_type": {"name": "gold", "extra_specs": specs, "share_type_access:is_public": False}}
    assert demo.refused("POST", "/types", body)[0] == 403
    assert admin.refused("POST", "/types", {"share_type": {"name": "x", "extra_specs": {}}})[0] == 400
    kind = admin.send("POST", "/types", body)
    path = f"/types/{kind['id']}"
    assert admin.refused("POST", "/types", body)[0] == 409
    assert (demo.refused("GET", path)[0], demo.names("/types")) == (404, ["default", "dhss_true"])
    assert admin.names("/types") == ["default", "dhss_true"]
    assert admin.names("/types?is_public=all") == ["default", "dhss_true", "gold"]
    project = demo.share()["project_id"]
    access = {"addProjectAccess": {"project": project}}
    assert [admin.call("POST", f"{path}/action", access).status for _ in range(2)] == [202, 409]
    assert admin.send("GET", f"{path}/share_type_access") == [{"share_type_id": kind["id"], "project_id": project}]
    shown = demo.send("GET", path)
    required = {"driver_handles_share_servers": "false"}
    assert (shown["required_extra_specs"], shown["extra_specs"]) == (
        required,
        required | dict.fromkeys(ABILITIES, "False"),
    )
    assert admin.send("GET", path)["extra_specs"] == specs
    assert demo.send("GET", "/types/default")["extra_specs"]["snapshot_support"] == "True"
    share = demo.share(share_type="gold")
    assert admin.refused("DELETE", path)[0] == 400
    assert admin.send("POST", f"{path}/extra_specs", {"extra_specs": {"a": "b"}}) == {"a": "b"}
    assert admin.refused("POST", f"{path}/extra_specs", {"extra_specs": {"snapshot_support": "maybe"}})[0] == 400
    assert [admin.call("DELETE", f"{path}/extra_specs/{key}").status for key in ("a", "a")] == [202, 404]
    assert admin.refused("DELETE", f"{path}/extra_specs/driver_handles_share_servers")[0] == 403
    assert admin.send("PUT", path, {"share_type": {"description": "d"}})["description"] == "d"
    assert demo.send("GET", "/types/default")["is_default"] is True
    assert demo.refused("GET", f"{path}/extra_specs")[0] == 403
    demo.call("DELETE", f"/shares/{share['id']}")
    demo.served.advance(1)
    assert admin.call("DELETE", path).status == 202


def test_quotas_and_lists(demo: Manila, admin: Manila) -> None:
    project = demo.share(name="a")["project_id"]
    demo.share(name="c", size=2)
    demo.share(name="b", description="big one")
    path = f"/quota-sets/{project}"
    assert demo.names("/shares") == ["b", "c", "a"]
    assert demo.names("/shares/detail?sort_key=size&sort_dir=desc&limit=1") == ["c"]
    assert demo.names("/shares?sort_key=name&sort_dir=asc&offset=1&limit=1") == ["b"]
    assert demo.names("/shares?description~=big") == ["b"]
    assert demo.names("/shares?description~=big", "2.35") == ["b", "c", "a"]
    assert demo.call("GET", "/shares?with_count=true&limit=1").json["count"] == 3
    assert demo.refused("GET", "/shares?sort_key=colour")[0] == 400
    assert demo.refused("PUT", path, {"quota_set": {"shares": 9}})[0] == 403
    assert admin.refused("PUT", path, {"quota_set": {"shares": 2}})[0] == 400
    assert admin.refused("PUT", path, {"quota_set": {"colour": 2}})[0] == 400
    assert admin.send("PUT", path, {"quota_set": {"shares": 3, "per_share_gigabytes": 2}})["shares"] == 3
    assert demo.refused("POST", "/shares", {"share": {"share_proto": "NFS", "size": 1}})[0] == 413
    assert demo.refused("POST", "/shares", {"share": {"share_proto": "NFS", "size": 3}})[0] == 413
    detail = demo.send("GET", f"{path}/detail")
    assert detail["gigabytes"] == {"limit": 1000, "in_use": 4, "reserved": 0}
    assert "per_share_gigabytes" not in demo.send("GET", path, None, "2.61")
    assert admin.call("DELETE", path).status == 202
    assert demo.send("GET", path)["shares"] == demo.send("GET", f"{path}/defaults")["shares"] == 50
    assert demo.refused("GET", "/quota-sets/other")[0] == 403
    assert demo.send("GET", "/limits")["absolute"]["totalSharesUsed"] == 3


def test_shares_are_managed_and_unmanaged(demo: Manila, admin: Manila, served: ServedCloud) -> None:
    share = demo.share(size=4)
    (export,) = demo.send("GET", f"/shares/{share['id']}/export_locations")
    assert demo.refused("POST", f"/shares/{share['id']}/action", {"unmanage": None})[0] == 403
    assert admin.call("POST", f"/shares/{share['id']}/action", {"unmanage": None}).status == 202
    served.advance(1)
    assert demo.refused("GET", f"/shares/{share['id']}")[0] == 404
    given = {"service_host": "devstack@generic#pool", "protocol": "nfs", "name": "again"}
    states = []
    for path in (export["path"], "10.254.0.3:/nothing"):
        made = admin.send("POST", "/shares/manage", {"share": {**given, "export_path": path}})
        served.advance(1)
        found = admin.send("GET", f"/shares/{made['id']}")
        states.append((found["status"], found["size"]))
    assert states == [("available", 4), ("manage_error", 0)]
    body = {"share": {**given, "export_path": export["path"]}}
    assert admin.refused("POST", "/shares/manage", body)[0] == 409
    assert demo.refused("POST", "/shares/manage", body)[0] == 403
