"""Names of floating IPs, transfers of zones to other projects, and zone files."""

from __future__ import annotations

from typing import Any

from openstack_emulator.testing import ServedCloud
from tests.emulator.dns.harness import EXAMPLE, Designate

FILE = """\
$ORIGIN imported.test.
$TTL 300
@ 600 IN SOA ns.elsewhere.test. first\\.last.imported.test. 1 3600 600 86400 60
@ IN NS ns.elsewhere.test.
www 60 IN A 192.0.2.1
www 60 IN A 192.0.2.2
mail IN MX 10 www
"""


def floating_ip(served: ServedCloud) -> dict[str, Any]:
    """Create a floating IP of the user `demo`."""
    token = served.token("demo", "demo")
    networks = served.call("GET", "/network/v2.0/networks?router:external=true", token=token).json["networks"]
    body = {"floatingip": {"floating_network_id": networks[0]["id"]}}
    made: dict[str, Any] = served.call("POST", "/network/v2.0/floatingips", body, token).json["floatingip"]
    return made


def test_floating_ips_have_names(designate: Designate, stranger: Designate, served: ServedCloud) -> None:
    address = floating_ip(served)
    path = f"/reverse/floatingips/RegionOne:{address['id']}"
    unset = designate.get(path)
    assert (unset["ptrdname"], unset["address"]) == (None, address["floating_ip_address"])
    answer = designate.call("PATCH", path, {"ptrdname": "host.example.test.", "ttl": 60, "description": "a host"})
    assert (answer.status, answer.json["status"], answer.json["action"]) == (202, "PENDING", "CREATE")
    served.advance(2)
    shown = designate.get("/reverse/floatingips")["floatingips"]
    assert [(one["ptrdname"], one["ttl"], one["status"]) for one in shown] == [("host.example.test.", 60, "ACTIVE")]
    assert designate.get("/zones")["zones"] == []
    assert stranger.get("/reverse/floatingips")["floatingips"] == []
    assert stranger.refused("GET", path)[:2] == (404, "not_found")
    for wrong in ({"ptrdname": "host"}, {}, {"ptrdname": "a.test.", "ttl": -1}):
        assert designate.refused("PATCH", path, wrong)[:2] == (400, "invalid_object")
    assert designate.refused("GET", "/reverse/floatingips/1")[0] == 400
    designate.call("PATCH", path, {"ptrdname": "other.example.test."})
    served.advance(2)
    assert designate.get(path)["ptrdname"] == "other.example.test."
    assert designate.call("PATCH", path, {"ptrdname": None}).json["action"] == "DELETE"
    served.advance(2)
    assert designate.get(path)["ptrdname"] is None
    designate.call("PATCH", path, {"ptrdname": "again.example.test."})
    served.advance(2)
    assert designate.get(path)["status"] == "ACTIVE"


def test_a_zone_is_given_to_another_project(designate: Designate, stranger: Designate, admin: Designate) -> None:
    zone = designate.zone()
    record = designate.record_set(zone, f"www.{EXAMPLE}", "A", "192.0.2.1")
    requested = designate.make(f"/zones/{zone}/tasks/transfer_requests", {"description": "yours"})
    place = f"/zones/tasks/transfer_requests/{requested['id']}"
    assert (requested["status"], len(requested["key"])) == ("ACTIVE", 8)
    assert designate.refused("POST", f"/zones/{zone}/tasks/transfer_requests", {})[0] == 409
    assert not {"key", "project_id"} & stranger.get(place).keys()
    assert designate.call("PATCH", place, {"description": "all yours"}).json["description"] == "all yours"
    accepts = "/zones/tasks/transfer_accepts"
    body = {"zone_transfer_request_id": requested["id"], "key": "WRONGKEY"}
    assert stranger.refused("POST", accepts, body)[:2] == (403, "invalid_key")
    accepted = stranger.make(accepts, {**body, "key": requested["key"]})
    assert (accepted["status"], accepted["zone_id"]) == ("COMPLETE", zone)
    assert stranger.get(f"/zones/{zone}/recordsets/{record}")["project_id"] == accepted["project_id"]
    assert designate.refused("GET", f"/zones/{zone}")[0] == 404
    assert designate.get(place)["status"] == "COMPLETE"
    assert stranger.refused("POST", accepts, {**body, "key": requested["key"]})[0] == 400
    assert stranger.get(f"{accepts}/{accepted['id']}")["status"] == "COMPLETE"
    assert [one["id"] for one in stranger.get(accepts)["transfer_accepts"]] == [accepted["id"]]
    project = admin.make("/zones", {"name": "admin.test.", "email": "a@admin.test"})["project_id"]
    asked = stranger.make(f"/zones/{zone}/tasks/transfer_requests", {"target_project_id": project})
    place = f"/zones/tasks/transfer_requests/{asked['id']}"
    assert designate.refused("GET", place)[:2] == (404, "zone_transfer_request_not_found")
    body = {"zone_transfer_request_id": asked["id"], "key": asked["key"]}
    assert designate.refused("POST", accepts, body)[0] == 403
    assert stranger.call("DELETE", place).status == 204
    assert stranger.get("/zones/tasks/transfer_requests")["transfer_requests"] == []


def imported(designate: Designate, content: str) -> dict[str, Any]:
    """Import a zone file; return the finished import."""
    answer = designate.call("POST", "/zones/tasks/imports", content.encode(), {"Content-Type": "text/dns"})
    assert (answer.status, answer.json["status"]) == (202, "PENDING"), answer.content
    designate.served.advance(4)
    found: dict[str, Any] = designate.get(f"/zones/tasks/imports/{answer.json['id']}")
    return found


def test_zone_files(designate: Designate, stranger: Designate, served: ServedCloud) -> None:
    done = imported(designate, FILE)
    assert (done["status"], done["message"]) == ("COMPLETE", "imported.test. imported")
    zone = designate.get(f"/zones/{done['zone_id']}")
    assert (zone["status"], zone["email"], zone["ttl"]) == ("ACTIVE", "first.last@imported.test", 600)
    sets = {one["name"]: one for one in designate.get(f"/zones/{zone['id']}/recordsets?sort_key=type")["recordsets"]}
    assert sorted(sets["www.imported.test."]["records"]) == ["192.0.2.1", "192.0.2.2"]
    assert (sets["mail.imported.test."]["records"], sets["mail.imported.test."]["ttl"]) == (
        ["10 www.imported.test."],
        300,
    )
    for content, message in (
        (FILE, "Duplicate Zone"),
        ("www IN A 192.0.2.1\n", "has no SOA record"),
        (FILE.replace("192.0.2.2", "192.0.2.256"), "Malformed zone file"),
        (FILE + "$INCLUDE /etc/passwd\n", "Malformed zone file"),
        (FILE + "$GENERATE 1-100000000 h$ A 192.0.2.1\n", "Malformed zone file"),
        (FILE + "a IN HINFO x y\n", "HINFO are not supported"),
    ):
        refused = imported(designate, content)
        assert refused["status"] == "ERROR" and message in refused["message"], refused
    assert len(designate.get("/zones")["zones"]) == 1
    assert designate.refused("POST", "/zones/tasks/imports", {"a": 1})[:2] == (415, "unsupported_content_type")

    export = designate.make(f"/zones/{zone['id']}/tasks/export", None)
    shown = designate.get(f"/zones/tasks/exports/{export['id']}")
    assert (shown["status"], shown["zone_id"]) == ("COMPLETE", zone["id"])
    file = f"/zones/tasks/exports/{export['id']}/export"
    assert designate.refused("GET", file, None, {"Accept": "application/json"})[0] == 406
    assert stranger.refused("GET", file)[:2] == (404, "zone_export_not_found")
    answer = designate.call("GET", file, headers={"Accept": "text/dns"})
    assert answer.headers["content-type"] == "text/dns"
    designate.call("DELETE", f"/zones/{zone['id']}")
    served.advance(2)
    again = imported(designate, answer.content.decode())
    assert again["status"] == "COMPLETE", again["message"]
    for path in (f"/zones/tasks/exports/{export['id']}", f"/zones/tasks/imports/{again['id']}"):
        assert designate.call("DELETE", path).status == 204
        assert designate.refused("GET", path)[0] == 404
