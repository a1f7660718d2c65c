"""What administrators see of the shared file systems service, and why shares find no place."""

from __future__ import annotations

import pytest

from openstack_emulator.share.rules.backend import fits
from openstack_emulator.testing import ServedCloud
from tests.emulator.share.test_shared_file_systems import Manila
from tests.emulator.users import token_with_role


@pytest.fixture
def demo(served: ServedCloud) -> Manila:
    return Manila(served)


@pytest.fixture
def admin(served: ServedCloud) -> Manila:
    return Manila(served, "admin")


def test_services_and_pools(demo: Manila, admin: Manila) -> None:
    assert [row["binary"] for row in admin.send("GET", "/services?host=devstack@generic")] == ["manila-share"]
    assert len(admin.send("GET", "/services")) == 3 and admin.send("GET", "/services?state=down") == []
    demo.share(size=7)
    (pool,) = admin.send("GET", "/scheduler-stats/pools/detail?backend=generic")
    assert (pool["name"], pool["capabilities"]["allocated_capacity_gb"]) == ("devstack@generic#pool", 7)
    assert admin.send("GET", "/scheduler-stats/pools?host=%5Edev.*&share_type=default") == [
        {name: pool[name] for name in ("name", "host", "backend", "pool")}
    ]
    for nothing in ("pool=shark", "dedupe=True", "host=("):
        assert admin.send("GET", f"/scheduler-stats/pools?{nothing}") == []
    for path in ("/services", "/scheduler-stats/pools", "/share_instances", "/snapshot-instances"):
        assert demo.refused("GET", path)[0] == 403


def test_shares_and_snapshots_have_one_instance(demo: Manila, admin: Manila, served: ServedCloud) -> None:
    share, other = demo.share(), demo.share()
    (export,) = demo.send("GET", f"/shares/{share['id']}/export_locations")
    (instance,) = admin.send("GET", f"/share_instances?export_location_id={export['id']}")
    assert admin.send("GET", f"/shares/{share['id']}/instances") == [instance]
    assert [row["id"] for row in admin.send("GET", f"/shares/detail?all_tenants=1&export_location_id={export['id']}")
            ] == [share["id"]]  # fmt: skip
    path = f"/share_instances/{instance['id']}"
    assert admin.send("GET", path)["share_id"] == share["id"] != other["id"]
    assert admin.send("GET", f"{path}/export_locations")[0]["path"] == export["path"]
    assert admin.call("POST", f"{path}/action", {"reset_status": {"status": "error"}}).status == 202
    assert demo.send("GET", f"/shares/{share['id']}")["status"] == "error"
    snapshot = demo.send("POST", "/snapshots", {"snapshot": {"share_id": other["id"]}})["id"]
    served.advance(1)
    assert [row["id"] for row in admin.send("GET", f"/snapshot-instances?snapshot_id={snapshot}")] == [snapshot]
    assert admin.send("GET", f"/snapshot-instances/{snapshot}")["share_instance_id"] == other["id"]
    assert admin.call("POST", f"{path}/action", {"force_delete": None}).status == 202
    assert demo.send("GET", f"/share-replicas/detail?share_id={share['id']}") == []


def test_a_share_without_a_fitting_pool_is_in_error(demo: Manila, admin: Manila) -> None:
    specs = {"driver_handles_share_servers": False, "dedupe": "<is> True"}
    admin.send("POST", "/types", {"share_type": {"name": "dedupe", "extra_specs": specs}})
    share = demo.share(share_type="dedupe")
    assert demo.send("GET", f"/shares/{share['id']}")["status"] == "error"
    (message,) = demo.send("GET", f"/messages?resource_id={share['id']}&sort_key=resource_id&sort_dir=asc")
    assert message["detail_id"] == "008" and "Capabilities filter" in message["user_message"]
    assert demo.send("GET", f"/messages/{message['id']}")["request_id"].startswith("req-")
    own = admin.share(share_type="dedupe")
    assert demo.send("GET", "/messages") == [message]
    assert [row["resource_id"] for row in admin.send("GET", "/messages")] == [own["id"], share["id"]]
    assert admin.send("GET", f"/messages?request_id={message['request_id']}")[0]["resource_id"] == share["id"]
    assert demo.call("DELETE", f"/messages/{message['id']}").status == 204
    assert demo.send("GET", "/messages") == [] and demo.refused("GET", "/messages", None, "2.36")[0] == 404


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        ({"driver_handles_share_servers": "True", "snapshot_support": "<is> True"}, True),
        ({"capabilities:storage_protocol": "<in> NFS", "provisioning:max_share_size": "3"}, True),
        ({"availability_zones": "nova", "share_backend_name": "GENERIC"}, True),
        ({"capabilities:storage_protocol": "CEPHFS"}, False),
        ({"colour": "blue"}, False),
    ],
)
def test_extra_specs_are_compared_with_capabilities(specs: dict[str, str], expected: bool) -> None:
    assert fits(specs) is expected


def test_readers_change_nothing(demo: Manila, served: ServedCloud) -> None:
    share = demo.share()
    reader = token_with_role(served, "reader")
    assert served.call("GET", f"/share/v2/shares/{share['id']}", token=reader).status == 200
    for method, path in (("POST", "/shares"), ("DELETE", f"/shares/{share['id']}"), ("POST", "/share-networks")):
        assert served.call(method, f"/share/v2{path}", {}, reader).status == 403
    assert served.call("GET", "/share/v2/shares", token=token_with_role(served, "heat_stack_user")).status == 403


def test_administrators_actions_are_refused_before_the_share_is_searched(demo: Manila) -> None:
    for action in ("force_delete", "unmanage", "reset_status"):
        assert demo.refused("POST", "/shares/none/action", {action: None})[0] == 403
    address = {"access_type": "ip", "access_to": "10.0.0.7"}
    path = f"/shares/{demo.share()['id']}/action"
    assert demo.call("POST", path, {"allow_access": address}).status == 200
    assert demo.refused("POST", path, {"allow_access": {**address, "access_to": "10.0.0.7/32"}})[0] == 400


def test_lists_by_time_and_types_of_the_own_project(demo: Manila, admin: Manila, served: ServedCloud) -> None:
    demo.send("POST", "/share-networks", {"share_network": {"name": "one"}})
    assert demo.names("/share-networks?created_since=2000-01-01&created_before=2100-01-01") == ["one"]
    assert demo.names("/share-networks?created_before=2000-01-01") == []
    for wrong in ("2000-01-01T00:00:00", "yesterday"):
        assert demo.refused("GET", f"/share-networks?created_since={wrong}")[0] == 400
    assert demo.refused("GET", "/messages?created_since=yesterday")[0] == 400
    specs = {"driver_handles_share_servers": False}
    kind = {"name": "private", "extra_specs": specs, "share_type_access:is_public": False}
    made = admin.send("POST", "/types", {"share_type": kind})
    assert "private" not in admin.names("/types")
    project = admin.share()["project_id"]
    assert admin.call("POST", f"/types/{made['id']}/action", {"addProjectAccess": {"project": project}}).status == 202
    assert "private" in admin.names("/types") and "private" not in demo.names("/types")
