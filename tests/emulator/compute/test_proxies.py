"""What Nova shows of other services, and what they and operators tell it."""

from __future__ import annotations

from typing import Any

import pytest


def old(nova: Any, method: str, path: str, body: Any = None, user: str = "demo") -> Any:
    """The JSON of a call in the oldest microversion, which must succeed; None without a body."""
    answer = nova.call(method, path, body, user, version="2.1")
    assert answer.status < 300, answer.content
    return answer.json if answer.content else None


@pytest.mark.parametrize(
    ("path", "last"),
    [
        ("/os-security-groups", "2.35"),
        ("/os-networks", "2.35"),
        ("/os-floating-ips", "2.35"),
        ("/images/detail", "2.35"),
        ("/os-volumes", "2.35"),
        ("/os-hosts", "2.42"),
    ],
)
def test_old_calls_are_gone_from_newer_microversions(nova: Any, path: str, last: str) -> None:
    assert nova.call("GET", path, user="admin", version=last).status == 200
    assert nova.call("GET", path, user="admin", version=f"2.{int(last[2:]) + 1}").status == 404


def test_a_slash_at_the_end_makes_another_path(nova: Any) -> None:
    assert nova.call("GET", "/servers").status == 200
    assert nova.call("GET", "/servers/").status == 404
    assert nova.call("DELETE", "/servers/").status == 404


def test_security_groups_and_their_rules(nova: Any) -> None:
    body = {"security_group": {"name": "web", "description": "d"}}
    group = old(nova, "POST", "/os-security-groups", body)["security_group"]
    assert group["rules"] == []
    rule = {"parent_group_id": group["id"], "ip_protocol": "tcp", "from_port": "22", "to_port": 22}
    made = old(nova, "POST", "/os-security-group-rules", {"security_group_rule": rule})["security_group_rule"]
    assert (made["from_port"], made["group"], made["ip_range"]) == (22, {}, {"cidr": "0.0.0.0/0"})
    again = nova.call("POST", "/os-security-group-rules", {"security_group_rule": rule}, version="2.1")
    assert again.status == 400
    inner = {"parent_group_id": group["id"], "ip_protocol": "icmp", "group_id": group["id"]}
    made = old(nova, "POST", "/os-security-group-rules", {"security_group_rule": inner})["security_group_rule"]
    assert (made["from_port"], made["group"]["name"], made["ip_range"]) == (-1, "web", {})
    old(nova, "DELETE", f"/os-security-group-rules/{made['id']}")
    key = nova.boot(security_groups=[{"name": "web"}])
    [listed] = old(nova, "GET", f"/servers/{key}/os-security-groups")["security_groups"]
    assert [row["to_port"] for row in listed["rules"]] == [22]
    assert nova.call("DELETE", f"/os-security-groups/{group['id']}", version="2.1").status == 400
    renamed = {"security_group": {"name": "www", "description": "e"}}
    assert old(nova, "PUT", f"/os-security-groups/{group['id']}", renamed)["security_group"]["name"] == "www"
    assert nova.call("GET", "/os-security-groups/x", version="2.1").status == 400


def test_floating_ips_lead_to_servers(nova: Any) -> None:
    assert old(nova, "GET", "/os-floating-ip-pools") == {"floating_ip_pools": [{"name": "public"}]}
    floating = old(nova, "POST", "/os-floating-ips", {"pool": "public"})["floating_ip"]
    other = old(nova, "POST", "/os-floating-ips")["floating_ip"]
    key = nova.boot()
    old(nova, "POST", f"/servers/{key}/action", {"addFloatingIp": {"address": floating["ip"]}})
    shown = old(nova, "GET", f"/os-floating-ips/{floating['id']}")["floating_ip"]
    assert (shown["instance_id"], shown["pool"]) == (key, "public")
    second = {"addFloatingIp": {"address": other["ip"]}}
    assert nova.call("POST", f"/servers/{key}/action", second, version="2.1").status == 400
    old(nova, "POST", f"/servers/{key}/action", {"removeFloatingIp": {"address": floating["ip"]}})
    stray = {"removeFloatingIp": {"address": floating["ip"]}}
    assert nova.call("POST", f"/servers/{key}/action", stray, version="2.1").status == 409
    old(nova, "DELETE", f"/os-floating-ips/{other['id']}")
    assert [row["id"] for row in old(nova, "GET", "/os-floating-ips")["floating_ips"]] == [floating["id"]]
    assert nova.call("POST", "/os-floating-ips", {"pool": "unknown"}, version="2.1").status == 404


def test_images_and_their_metadata(nova: Any) -> None:
    key = nova.boot()
    made = nova.call("POST", f"/servers/{key}/action", {"createImage": {"name": "shot"}}, version="2.1")
    image = made.headers["location"].rsplit("/", 1)[1]
    assert old(nova, "GET", f"/images/{image}")["image"]["status"] == "SAVING"
    nova.wait()
    shown = old(nova, "GET", f"/images/{image}")["image"]
    assert (shown["status"], shown["progress"], shown["server"]["id"]) == ("ACTIVE", 100, key)
    found = old(nova, "GET", f"/images/detail?server={key}&status=ACTIVE&type=snapshot")["images"]
    assert [row["id"] for row in found] == [image]
    paged = old(nova, "GET", "/images?limit=1")
    assert paged["images"][0]["id"] == image and "marker" in paged["images_links"][0]["href"]
    old(nova, "POST", f"/images/{image}/metadata", {"metadata": {"a": "1"}})
    old(nova, "PUT", f"/images/{image}/metadata/b", {"meta": {"b": "2"}})
    assert old(nova, "GET", f"/images/{image}/metadata/a") == {"meta": {"a": "1"}}
    old(nova, "DELETE", f"/images/{image}/metadata/a")
    assert nova.call("GET", f"/images/{image}/metadata/a", version="2.1").status == 404
    replaced = old(nova, "PUT", f"/images/{image}/metadata", {"metadata": {"c": "3"}})
    assert replaced == {"metadata": {"c": "3"}} == old(nova, "GET", f"/images/{image}/metadata")
    old(nova, "DELETE", f"/images/{image}")
    assert nova.call("GET", f"/images/{image}", version="2.1").status == 404


def test_volumes_and_snapshots(nova: Any) -> None:
    request_body = {"volume": {"size": "1", "display_name": "v", "metadata": {"a": "b"}}}
    volume = old(nova, "POST", "/os-volumes", request_body)["volume"]
    assert (volume["displayName"], volume["metadata"], volume["attachments"]) == ("v", {"a": "b"}, [{}])
    nova.wait()
    body = {"snapshot": {"volume_id": volume["id"], "display_name": "s"}}
    snapshot = old(nova, "POST", "/os-snapshots", body)["snapshot"]
    assert snapshot["volumeId"] == volume["id"]
    assert [row["displayName"] for row in old(nova, "GET", "/os-snapshots/detail")["snapshots"]] == ["s"]
    assert nova.call("POST", "/os-volumes", {"volume": {"size": 0}}, version="2.1").status == 400
    nova.wait()
    old(nova, "DELETE", f"/os-snapshots/{snapshot['id']}")
    nova.wait()
    old(nova, "DELETE", f"/os-volumes/{volume['id']}")
    nova.wait()
    assert old(nova, "GET", "/os-volumes")["volumes"] == []


def test_networks(nova: Any) -> None:
    [label] = [row["label"] for row in old(nova, "GET", "/os-networks")["networks"] if row["id"] == nova.network()]
    assert label == "private"
    assert old(nova, "GET", f"/os-tenant-networks/{nova.network()}")["network"]["label"] == "private"


def test_usage_counts_servers_that_are_gone_too(nova: Any) -> None:
    key = nova.boot()
    nova.wait(3600)
    nova.call("DELETE", f"/servers/{key}")
    nova.wait()
    project = nova.served.call("GET", "/identity/v3/auth/projects", token=nova.served.token("demo", "demo"))
    path = f"/os-simple-tenant-usage/{project.json['projects'][0]['id']}"
    usage = nova.call("GET", path).json["tenant_usage"]
    [server] = usage["server_usages"]
    assert (server["instance_id"], server["state"], server["flavor"]) == (key, "terminated", "m1.tiny")
    assert 1 <= usage["total_hours"] < 1.1
    assert usage["total_memory_mb_usage"] == pytest.approx(512 * usage["total_hours"])
    assert nova.call("GET", f"{path}?start=2000-01-02T00:00:00&end=2000-01-01T00:00:00").status == 400
    assert nova.call("GET", f"{path}?end=2000-01-01T00:00:00").json == {"tenant_usage": {}}
    assert nova.call("GET", "/os-simple-tenant-usage").status == 403
    [everyone] = nova.call("GET", "/os-simple-tenant-usage", user="admin").json["tenant_usages"]
    assert "server_usages" not in everyone
    audit = nova.call("GET", "/os-instance_usage_audit_log/2012-07-05%2010:00:00", user="admin").json
    assert audit["instance_usage_audit_log"]["period_beginning"] == "2012-06-01 00:00:00"


def test_external_server_events(nova: Any) -> None:
    key, stranger = nova.boot(), "00000000-0000-0000-0000-000000000000"
    changed = {"name": "network-changed", "server_uuid": key}
    off = {"name": "power-update", "server_uuid": key, "tag": "POWER_OFF"}
    assert nova.call("POST", "/os-server-external-events", {"events": [changed]}).status == 403
    taken = nova.call("POST", "/os-server-external-events", {"events": [changed, off]}, user="admin")
    assert (taken.status, [row["code"] for row in taken.json["events"]]) == (200, [200, 200])
    assert nova.status(key) == "SHUTOFF"
    lost = {**changed, "server_uuid": stranger}
    partly = nova.call("POST", "/os-server-external-events", {"events": [changed, lost]}, user="admin")
    assert (partly.status, [row["code"] for row in partly.json["events"]]) == (207, [200, 404])
    assert nova.call("POST", "/os-server-external-events", {"events": [lost]}, user="admin").status == 404
    tagless = {"name": "volume-extended", "server_uuid": key}
    partly = nova.call("POST", "/os-server-external-events", {"events": [changed, tagless]}, user="admin")
    assert [(row["code"], row["status"]) for row in partly.json["events"]] == [(200, "completed"), (400, "failed")]
    assert nova.call("POST", "/os-server-external-events", {"events": [tagless]}, user="admin").status == 404
    early = nova.call("POST", "/os-server-external-events", {"events": [off]}, user="admin", version="2.75")
    assert early.status == 400


def test_legacy_host_routes(nova: Any) -> None:
    hosts = old(nova, "GET", "/os-hosts?zone=nova", user="admin")["hosts"]
    assert {row["service"] for row in hosts} == {"compute"}
    key = nova.boot()
    host = nova.server(key, user="admin")["OS-EXT-SRV-ATTR:host"]
    total, now, *_ = [row["resource"] for row in old(nova, "GET", f"/os-hosts/{host}", user="admin")["host"]]
    assert (total["project"], now["project"], now["cpu"]) == ("(total)", "(used_now)", 1)
    old(nova, "PUT", f"/os-hosts/{host}", {"status": "disable"}, user="admin")
    [service] = nova.call("GET", f"/os-services?host={host}", user="admin").json["services"]
    assert service["status"] == "disabled"
    assert nova.call("PUT", f"/os-hosts/{host}", {"status": "x"}, user="admin", version="2.1").status == 400
    assert nova.call("GET", f"/os-hosts/{host}/reboot", user="admin", version="2.1").status == 501
    assert nova.call("GET", "/os-hosts/unknown/reboot", user="admin", version="2.1").status == 404


def test_console_token_is_resolved(nova: Any) -> None:
    key = nova.boot()
    body = {"remote_console": {"protocol": "spice", "type": "spice-direct"}}
    assert nova.call("POST", f"/servers/{key}/remote-consoles", body, version="2.98").status == 400
    url = nova.call("POST", f"/servers/{key}/remote-consoles", body).json["remote_console"]["url"]
    path = f"/os-console-auth-tokens/{url.rsplit('=', 1)[1]}"
    assert nova.call("GET", path).status == 403
    assert nova.call("GET", path, user="admin").json["console"]["instance_uuid"] == key
    nova.wait(601)
    assert nova.call("GET", path, user="admin").status == 404


def test_a_volume_snapshot_that_nova_assists(nova: Any) -> None:
    key, volume = nova.boot(), nova.volume()
    info = {"snapshot_id": "s", "type": "qcow2", "new_file": "f"}
    body = {"snapshot": {"volume_id": volume, "create_info": info}}
    assert nova.call("POST", "/os-assisted-volume-snapshots", body, user="admin").status == 400
    nova.call("POST", f"/servers/{key}/os-volume_attachments", {"volumeAttachment": {"volumeId": volume}})
    nova.wait()
    made = nova.call("POST", "/os-assisted-volume-snapshots", body, user="admin")
    assert (made.status, made.json["snapshot"]["volumeId"]) == (200, volume)
    query = '?delete_info=%7B"volume_id":"' + volume + '"%7D'
    assert nova.call("DELETE", f"/os-assisted-volume-snapshots/s{query}", user="admin").status == 204


def test_server_password_and_share_routes_are_empty(nova: Any) -> None:
    key = nova.boot()
    assert nova.call("GET", f"/servers/{key}/os-server-password").json == {"password": ""}
    assert nova.call("DELETE", f"/servers/{key}/os-server-password").status == 204
    assert nova.call("GET", f"/servers/{key}/shares").json == {"shares": []}
    body = {"share": {"share_id": "00000000-0000-0000-0000-000000000000"}}
    assert nova.call("POST", f"/servers/{key}/shares", body).status == 404
