"""Zones and record sets over HTTP: statuses, rules, lists, quotas, and what operators set up."""

from __future__ import annotations

from uuid import uuid4

import pytest

from openstack_emulator.dns.routes.lists import _is_like
from openstack_emulator.dns.rules.names import reverse_name, reverse_zone
from openstack_emulator.testing import ServedCloud
from tests.emulator.dns.harness import ALL_PROJECTS, EXAMPLE, Designate
from tests.emulator.users import token_with_role


def test_a_zone_is_pending_then_active_and_its_serial_grows(designate: Designate, served: ServedCloud) -> None:
    made = designate.make("/zones", {"name": EXAMPLE, "email": "admin@example.test"}, wait=False)
    path = f"/zones/{made['id']}"
    assert (made["status"], made["action"], made["ttl"], made["type"]) == ("PENDING", "CREATE", 3600, "PRIMARY")
    assert made["links"] == {"self": f"{served.url}/dns/v2{path}"}
    served.advance(2)
    assert (designate.get(path)["status"], designate.get(path)["action"]) == ("ACTIVE", "NONE")
    sets = designate.get(f"{path}/recordsets")["recordsets"]
    assert [one["type"] for one in sets] == ["SOA", "NS"]
    timers = f"{made['serial']} 3600 600 86400 3600"
    assert sets[0]["records"] == [f"ns1.devstack.org. admin.example.test. {timers}"]
    assert designate.get(f"{path}/nameservers") == {"nameservers": [{"hostname": "ns1.devstack.org.", "priority": 1}]}

    changed = designate.call("PATCH", path, {"ttl": 60, "description": "new"})
    assert changed.status == 202
    assert (changed.json["status"], changed.json["action"], changed.json["ttl"]) == ("PENDING", "UPDATE", 60)
    assert changed.json["serial"] > made["serial"]
    designate.record_set(made["id"], f"www.{EXAMPLE}", "A", "192.0.2.1")
    assert designate.get(path)["serial"] > changed.json["serial"]

    gone = designate.call("DELETE", path)
    assert (gone.status, gone.json["status"], gone.json["action"]) == (202, "PENDING", "DELETE")
    assert designate.refused("PATCH", path, {"ttl": 70})[0] == 400
    served.advance(2)
    assert designate.refused("GET", path) == (404, "zone_not_found", "Could not find Zone")
    assert designate.get("/recordsets")["recordsets"] == []


def test_a_record_set_is_created_changed_and_deleted(designate: Designate, served: ServedCloud) -> None:
    zone = designate.zone()
    sets = f"/zones/{zone}/recordsets"
    made = designate.make(sets, {"name": f"www.{EXAMPLE}", "type": "A", "records": ["192.0.2.1"]}, wait=False)
    assert (made["status"], made["action"], made["ttl"], made["zone_name"]) == ("PENDING", "CREATE", None, EXAMPLE)
    served.advance(2)
    changed = designate.call("PUT", f"{sets}/{made['id']}", {"records": ["192.0.2.2"], "ttl": 60})
    assert (changed.status, changed.json["action"], changed.json["records"]) == (202, "UPDATE", ["192.0.2.2"])
    assert changed.json["version"] > made["version"]
    elsewhere = designate.call("GET", f"/recordsets/{made['id']}")
    assert (elsewhere.status, elsewhere.headers["location"]) == (301, made["links"]["self"])
    assert designate.call("DELETE", f"{sets}/{made['id']}").json["action"] == "DELETE"
    assert designate.refused("GET", f"{sets}/{made['id']}")[:2] == (404, "recordset_not_found")
    assert designate.get(f"/zones/{zone}")["status"] == "PENDING"


def test_invalid_zones_are_refused(designate: Designate, admin: Designate) -> None:
    email = {"email": "a@example.test"}
    for body, message in (
        ({"name": "no-dot.test", **email}, "does not end with a dot"),
        ({"name": f"{'a' * 64}.test.", **email}, "test. is invalid"),
        ({"name": "-a.test.", **email}, "test. is invalid"),
        ({"name": f"{'a.' * 125}test.", **email}, "test. is invalid"),
        ({"name": EXAMPLE}, "'email' is a required property"),
        ({"name": EXAMPLE, "email": "nobody"}, "nobody is not an email"),
        ({"name": EXAMPLE, **email, "ttl": 2**31}, "Value must be <= 2147483647 for field ttl"),
        ({"name": EXAMPLE, **email, "size": 1}, "Keys ['size'] are not valid for zone"),
        ({"name": EXAMPLE, **email, "masters": ["192.0.2.1"]}, "not allowed for a zone of type PRIMARY"),
        ({"name": EXAMPLE, "type": "SECONDARY"}, "'masters' is a required property"),
        ({"name": EXAMPLE, "type": "SECONDARY", "masters": ["192.0.2.1:0"]}, "is not an IP address"),
    ):
        status, kind, problem = designate.refused("POST", "/zones", body)
        assert (status, kind) == (400, "invalid_object") and message in problem
    assert designate.refused("POST", "/zones", [])[:2] == (400, "bad_request")
    zone = designate.zone()
    assert designate.refused("POST", "/zones", {"name": EXAMPLE.upper(), **email})[:2] == (409, "duplicate_zone")
    assert admin.refused("POST", "/zones", {"name": f"sub.{EXAMPLE}", **email})[:2] == (403, "illegal_child")
    designate.zone("low.other.test.")
    assert admin.refused("POST", "/zones", {"name": "other.test.", **email})[:2] == (403, "illegal_parent")
    assert admin.refused("POST", "/zones", {"name": "test.", **email})[:2] == (400, "invalid_zone_name")
    designate.zone(f"sub.{EXAMPLE}")
    assert designate.refused("DELETE", f"/zones/{zone}")[:2] == (400, "zone_has_sub_zone")
    assert designate.refused("GET", "/zones/1") == (400, "invalid_uuid", "Invalid UUID zone_id: 1")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("A", ["192.0.2.1"], ["192.0.2.256", "192.0.2", "2001:db8::1", " ", "\\# 4 c0000201"]),
        ("AAAA", ["2001:db8::1"], ["192.0.2.1", "2001:db8:::1"]),
        ("CNAME", ["web.example.org."], ["web.example.org", "192.0.2.1", "a b."]),
        ("MX", ["10 mail.example.org."], ["mail.example.org.", "65536 mail.example.org.", "10 mail", "10 a_b@c."]),
        ("SRV", ["0 5 5060 sip.example.org."], ["0 5 sip.example.org.", "0 5 70000 sip.example.org."]),
        ("TXT", ["plain", '"with space" "two"', '"a \\" b"'], ["with space", '"open', 'in"ner', '"a\nb"']),
        ("SPF", ['"v=spf1 -all"'], ["v=spf1 -all"]),
        ("PTR", ["host.example.org."], ["host.example.org"]),
        ("SSHFP", [f"4 2 {'ab' * 32}"], ["4 2 xyz", "300 2 abcd"]),
        ("CAA", ['0 issue "ca.example.org"'], ["issue", '256 issue "ca.example.org"']),
        ("CERT", ["1 0 5 AAAA"], ["1 0 5", "1 0 5 =="]),
        ("NAPTR", ['10 100 "s" "SIP+D2U" "" _sip._udp.example.org.'], ['10 100 "s" "SIP+D2U" ""']),
        ("TLSA", [f"3 1 1 {'ab' * 32}"], ["3 1 1 zz"]),
        ("HTTPS", ["1 . alpn=h2"], ["1 . alpn=foo", "1 ."[:1]]),
    ],
)
def test_records_of_each_type(designate: Designate, kind: str, good: list[str], bad: list[str]) -> None:
    sets = f"/zones/{designate.zone()}/recordsets"
    for number, record in enumerate(good):
        body = {"name": f"a{number}.{EXAMPLE}", "type": kind, "records": [record]}
        assert designate.make(sets, body, wait=False)["records"] == [record]
    for record in bad:
        status, name, problem = designate.refused("POST", sets, {**body, "records": [record]})
        assert (status, name) == (400, "invalid_object") and f"is not a '{kind}' Record" in problem, record


def test_invalid_record_sets_are_refused(designate: Designate, admin: Designate) -> None:
    zone = designate.zone()
    designate.zone(f"sub.{EXAMPLE}")
    designate.record_set(zone, f"www.{EXAMPLE}", "A", "192.0.2.1")
    sets, location = f"/zones/{zone}/recordsets", "invalid_recordset_location"
    for name, kind, record, expected in (
        ("www.other.test.", "A", "192.0.2.1", location),
        (f"a.sub.{EXAMPLE}", "A", "192.0.2.1", location),
        (EXAMPLE, "CNAME", "web.example.org.", location),
        (f"WWW.{EXAMPLE}", "CNAME", "web.example.org.", location),
        (f"*.{EXAMPLE}", "NS", "ns.example.org.", "invalid_object"),
        (f"www.{EXAMPLE}", "A", "192.0.2.2", "duplicate_recordset"),
        (f"b.{EXAMPLE}", "SOA", "a. b. 1 1 1 1 1", "bad_request"),
        (EXAMPLE, "NS", "ns.example.org.", "bad_request"),
        (f"b.*.{EXAMPLE}", "A", "192.0.2.1", "invalid_object"),
        (f"*.{'a.' * 121}{EXAMPLE}", "A", "192.0.2.1", "invalid_object"),
        (f"b.{EXAMPLE}", "WKS", "192.0.2.1", "invalid_object"),
    ):
        body = {"name": name, "type": kind, "records": [record]}
        assert designate.refused("POST", sets, body)[1] == expected, name
    pair = {"name": f"c.{EXAMPLE}", "type": "CNAME", "records": ["a.example.org.", "b.example.org."]}
    assert designate.refused("POST", sets, pair)[2] == "CNAME recordsets may not have more than 1 record"
    empty = designate.call("POST", sets, {**pair, "records": []})
    assert (empty.status, empty.json["status"], empty.json["action"]) == (201, "ACTIVE", "NONE")
    assert designate.refused("POST", sets, {**pair, "type": "A"})[2] == (
        "'a.example.org.' is not a 'A' Record; 'b.example.org.' is not a 'A' Record"
    )
    own = {one["type"]: one["id"] for one in designate.get(f"{sets}?name={EXAMPLE}")["recordsets"]}
    assert designate.refused("DELETE", f"{sets}/{own['NS']}")[2] == "Managed records may not be deleted"
    assert designate.refused("PUT", f"{sets}/{own['SOA']}", {"ttl": 1})[2] == "Updating SOA recordsets is not allowed"
    managed = {"X-Designate-Edit-Managed-Records": "true"}
    assert designate.refused("PUT", f"{sets}/{own['NS']}", {"ttl": 60}, managed)[0] == 403
    assert admin.call("PUT", f"{sets}/{own['NS']}", {"ttl": 60}, {**managed, **ALL_PROJECTS}).status == 202
    copy = designate.make("/zones", {"name": "copy.test.", "type": "SECONDARY", "masters": ["192.0.2.1"]})
    assert designate.refused("POST", f"/zones/{zone}/tasks/xfr")[0] == 400
    assert designate.refused("POST", f"/zones/{copy['id']}/tasks/xfr")[:2] == (501, "not_implemented")
    www = {"name": "www.copy.test.", "type": "A", "records": ["192.0.2.1"]}
    assert designate.refused("POST", f"/zones/{copy['id']}/recordsets", www)[0] == 403


def test_lists_have_pages_filters_and_orders(designate: Designate, served: ServedCloud) -> None:
    zone = designate.zone()
    for number in range(5):
        designate.record_set(zone, f"h{number}.{EXAMPLE}", "A", f"192.0.2.{9 - number}", ttl=number * 10)
    path = f"/zones/{zone}/recordsets"
    first = designate.get(f"{path}?limit=4&sort_key=name&sort_dir=desc")
    assert [one["name"].split(".")[0] for one in first["recordsets"]] == ["h4", "h3", "h2", "h1"]
    assert first["metadata"] == {"total_count": 7}
    following = first["links"]["next"].removeprefix(f"{served.url}/dns/v2")
    assert [one["name"].split(".")[0] for one in designate.get(following)["recordsets"]] == ["h0", "example", "example"]
    for query, names in (
        ("name=h1*", ["h1"]),
        ("data=192.0.2.8", ["h1"]),
        ("ttl=40&type=A", ["h4"]),
        ("name=*h1*&name=*h2*", ["h1", "h2"]),
        ("status=PENDING", []),
        ("type=SOA", ["example"]),
    ):
        assert [one["name"].split(".")[0] for one in designate.get(f"{path}?{query}")["recordsets"]] == names, query
    assert len(designate.get("/recordsets?limit=max")["recordsets"]) == 7
    for query, kind in (
        ("limit=0", "invalid_limit"),
        ("limit=x", "invalid_limit"),
        ("marker=x", "marker_not_found"),
        ("sort_key=records", "invalid_sort_key"),
        ("sort_dir=up", "invalid_sort_dir"),
        ("colour=red", "bad_request"),
    ):
        assert designate.refused("GET", f"{path}?{query}")[:2] == (400, kind)
    assert _is_like("a" * 200 + "b", "*a" * 50) is False
    assert _is_like("abc", "a*c*") and not _is_like("ab", "ab*b")


def test_zones_are_isolated_by_project(designate: Designate, admin: Designate, stranger: Designate) -> None:
    zone = designate.zone()
    assert stranger.refused("GET", f"/zones/{zone}")[:2] == (404, "zone_not_found")
    assert stranger.get("/zones")["zones"] == admin.get("/zones")["zones"] == []
    assert stranger.refused("GET", "/zones", None, ALL_PROJECTS)[:2] == (403, "forbidden")
    assert [one["id"] for one in admin.get("/zones", ALL_PROJECTS)["zones"]] == [zone]
    owner = designate.get(f"/zones/{zone}")["project_id"]
    assert [one["id"] for one in admin.get("/zones", {"X-Auth-Sudo-Project-ID": owner})["zones"]] == [zone]

    target = stranger.make("/zones", {"name": "alt.test.", "email": "a@alt.test"})["project_id"]
    share = designate.make(f"/zones/{zone}/shares", {"target_project_id": target})
    assert designate.refused("POST", f"/zones/{zone}/shares", {"target_project_id": target})[0] == 409
    assert stranger.get(f"/zones/{zone}")["shared"] is True
    mine = stranger.record_set(zone, f"alt.{EXAMPLE}", "A", "192.0.2.1")
    assert [one["id"] for one in stranger.get(f"/zones/{zone}/recordsets")["recordsets"]] == [mine]
    assert stranger.refused("DELETE", f"/zones/{zone}")[0] == 403
    assert stranger.refused("GET", f"/zones/{zone}/nameservers")[0] == 403
    assert designate.refused("DELETE", f"/zones/{zone}")[1] == "zone_shared"
    assert designate.call("DELETE", f"/zones/{zone}/shares/{share['id']}").status == 204
    assert stranger.refused("GET", f"/zones/{zone}")[0] == 404


def test_readers_change_nothing(designate: Designate, served: ServedCloud) -> None:
    zone = designate.zone()
    reader, outsider = (token_with_role(served, role) for role in ("reader", "heat_stack_user"))
    for token, status in ((reader, 200), (outsider, 403)):
        assert served.call("GET", f"/dns/v2/zones/{zone}", token=token).status == status
    for method, path in (("POST", "/zones"), ("DELETE", f"/zones/{zone}"), ("POST", f"/zones/{zone}/recordsets")):
        assert served.call(method, f"/dns/v2{path}", {}, reader).status == 403
    requested = designate.make(f"/zones/{zone}/tasks/transfer_requests", {"target_project_id": "a" * 32})
    place = f"/dns/v2/zones/tasks/transfer_requests/{requested['id']}"
    assert served.call("GET", place, token=reader).status == 403
    assert served.call("GET", place, token=served.token("demo", "demo")).status == 200


def test_quotas(designate: Designate, admin: Designate) -> None:
    zone = designate.zone()
    project = designate.get(f"/zones/{zone}")["project_id"]
    limits = {"zones": 1, "zone_recordsets": 2, "zone_records": 3, "recordset_records": 2}
    assert designate.get("/quotas")["zones"] == designate.get("/limits")["max_zones"] == 10
    assert designate.refused("PATCH", f"/quotas/{project}", limits)[0] == 403
    assert admin.refused("PATCH", f"/quotas/{project}", {"cows": 1}, ALL_PROJECTS)[:2] == (400, "invalid_object")
    assert admin.refused("PATCH", f"/quotas/{uuid4().hex}", limits, ALL_PROJECTS)[:2] == (400, "invalid_project")
    changed = admin.call("PATCH", f"/quotas/{project}", limits, ALL_PROJECTS)
    assert (changed.status, changed.json) == (200, {**limits, "api_export_size": 1000})
    another = {"name": "other.test.", "email": "a@b.test"}
    assert designate.refused("POST", "/zones", another) == (413, "over_quota", "Quota exceeded for zones.")
    designate.record_set(zone, f"a.{EXAMPLE}", "A", "192.0.2.1", "192.0.2.2")
    sets = f"/zones/{zone}/recordsets"
    body = {"name": f"b.{EXAMPLE}", "type": "A", "records": ["192.0.2.1", "192.0.2.2"]}
    assert designate.refused("POST", sets, {**body, "records": ["192.0.2.1"] * 3})[2].endswith("recordset_records.")
    assert designate.refused("POST", sets, body)[2].endswith("zone_records.")
    designate.make(sets, {**body, "records": ["192.0.2.1"]})
    assert designate.refused("POST", sets, {**body, "name": f"c.{EXAMPLE}"})[2].endswith("zone_recordsets.")
    assert admin.call("DELETE", f"/quotas/{project}", headers=ALL_PROJECTS).status == 204
    assert designate.get("/quotas")["zones"] == 10


def test_operator_resources(designate: Designate, admin: Designate) -> None:
    email = {"email": "a@example.test"}
    tld = admin.make("/tlds", {"name": "test"})
    assert admin.refused("POST", "/tlds", {"name": "test"})[1] == "duplicate_tld"
    assert designate.refused("GET", "/tlds")[0] == 403
    for name in ("example.org.", "test."):
        assert designate.refused("POST", "/zones", {"name": name, **email})[1] == "invalid_zone_name"
    changed = admin.call("PATCH", f"/tlds/{tld['id']}", {"description": "for tests"})
    assert (changed.status, changed.json["description"]) == (200, "for tests")
    pattern = admin.make("/blacklists", {"pattern": r"^bad\.test\.$"})
    assert admin.refused("POST", "/blacklists", {"pattern": "("})[:2] == (400, "invalid_object")
    bad = {"name": "bad.test.", **email}
    assert designate.refused("POST", "/zones", bad) == (400, "invalid_zone_name", "Blacklisted zone name")
    assert admin.call("DELETE", f"/blacklists/{pattern['id']}").status == 204
    designate.make("/zones", bad)
    pools = admin.get("/pools")["pools"]
    assert [pool["name"] for pool in pools] == ["default"]
    assert admin.refused("DELETE", f"/pools/{pools[0]['id']}")[0] == 400
    key = {"name": "k", "algorithm": "hmac-sha256", "secret": "c2VjcmV0", "scope": "POOL", "resource_id": str(uuid4())}
    made = admin.make("/tsigkeys", key)
    assert admin.get("/tsigkeys?name=k")["tsigkeys"][0]["id"] == made["id"]
    assert admin.refused("POST", "/tsigkeys", {**key, "algorithm": "rot13"})[0] == 400
    statuses = admin.get("/service_statuses")["service_statuses"]
    assert {one["status"] for one in statuses} == {"UP"} and len(statuses) == 5
    assert admin.get(f"/service_statuses/{statuses[0]['id']}") == statuses[0]


def test_a_change_can_fail_and_be_repeated(designate: Designate, served: ServedCloud) -> None:
    zone = designate.zone()
    rule = {"on": "PATCH /dns/v2/zones/*", "do": "error_state", "times": 1}
    assert served.call("POST", "/control/faults", rule).status == 201
    for expected in ("ERROR", "ACTIVE"):
        designate.call("PATCH", f"/zones/{zone}", {"ttl": 60})
        served.advance(2)
        assert designate.get(f"/zones/{zone}")["status"] == expected


def test_a_fault_that_waits_is_not_shown(designate: Designate, served: ServedCloud) -> None:
    rule = {"on": "POST /dns/v2/zones/*", "do": "error_state", "times": 2}
    zone = designate.zone()
    assert served.call("POST", "/control/faults", rule).status == 201
    requested = designate.make(f"/zones/{zone}/tasks/transfer_requests", {"description": "yours"})
    body = {"zone_transfer_request_id": requested["id"], "key": requested["key"]}
    accepted = designate.make("/zones/tasks/transfer_accepts", body)
    assert not {name for name in (*requested, *accepted) if name.startswith("_")}


def test_reverse_names_and_zones_of_addresses() -> None:
    assert reverse_name("192.0.2.7") == "7.2.0.192.in-addr.arpa."
    assert reverse_zone("192.0.2.7") == "2.0.192.in-addr.arpa."
    assert reverse_zone("2001:db8:1::1") == "1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa."
