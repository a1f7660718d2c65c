"""Designate's types on the emulated DNS service: created, changed in place, replaced, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError, Conflict
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done
from stoker.plugins.resource import ResourceType
from stoker.resources.designate.record_set import RecordSet
from stoker.resources.designate.zone import Zone
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench

MakeBench = Callable[[type[ResourceType]], Bench]
EXAMPLE = {"name": "example.test.", "email": "admin@example.test"}


class Dns:
    """What the tests look at and break."""

    def __init__(self, cloud: Cloud, served: ServedCloud) -> None:
        self.cloud, self.served = cloud, served

    async def shown(self, path: str) -> dict[str, Any]:
        return dict(await self.cloud.get("designate", path))

    def fail(self, method: str, path: str) -> None:
        """Let the change that the next such request begins end with the status ERROR."""
        rule = {"on": f"{method} /dns/v2{path}", "do": "error_state", "times": 1}
        assert self.served.call("POST", "/control/faults", rule).status == 201


@pytest.fixture
def dns(cloud: Cloud, served: ServedCloud) -> Dns:
    return Dns(cloud, served)


async def test_a_zone(bench: MakeBench, dns: Dns) -> None:
    zones = bench(Zone)
    made = await zones.create({**EXAMPLE, "ttl": 300, "description": "first", "attributes": {"service_tier": "gold"}})
    shown = await dns.shown(f"/v2/zones/{made.physical_id}")
    assert (shown["status"], shown["type"], shown["ttl"]) == ("ACTIVE", "PRIMARY", 300)
    assert shown["attributes"] == {"service_tier": "gold"}
    assert await zones.attribute(made, "serial") == shown["serial"]

    changed = {**EXAMPLE, "email": "other@example.test", "ttl": 600, "attributes": {"service_tier": "gold"}}
    assert isinstance(await zones.update(made, changed), Done)
    after = await dns.shown(f"/v2/zones/{made.physical_id}")
    assert (after["email"], after["ttl"], after["description"]) == ("other@example.test", 600, None)
    assert after["serial"] > shown["serial"]

    await zones.delete(made)
    await zones.delete(made)
    with pytest.raises(CloudError, match="Could not find Zone"):
        await dns.shown(f"/v2/zones/{made.physical_id}")


async def test_a_secondary_zone_is_sent_its_primaries_only(bench: MakeBench, dns: Dns) -> None:
    zones = bench(Zone)
    given = {"name": "copy.test.", "type": "SECONDARY", "ttl": 60, "email": "a@example.test"}
    made = await zones.create({**given, "masters": ["192.0.2.1:53", "192.0.2.2:5353"]})
    shown = await dns.shown(f"/v2/zones/{made.physical_id}")
    assert (shown["masters"], shown["ttl"], shown["email"]) == (["192.0.2.1", "192.0.2.2:5353"], 3600, "")
    await zones.update(made, {**given, "ttl": 90, "primaries": ["2001:db8::1"]})
    shown = await dns.shown(f"/v2/zones/{made.physical_id}")
    assert (shown["masters"], shown["ttl"]) == (["2001:db8::1"], 3600)


async def test_record_sets(bench: MakeBench, dns: Dns) -> None:
    zone = str((await bench(Zone).create(EXAMPLE)).physical_id)
    sets = bench(RecordSet)
    first = {"zone": "example.test.", "name": "www", "type": "A", "records": ["192.0.2.1"], "ttl": 60}
    made = await sets.create(first)
    place = f"/v2/zones/{zone}/recordsets/{made.physical_id}"
    assert (await dns.shown(place))["name"] == "www.example.test."
    assert sets.reference(made) == made.physical_id

    second = {**first, "records": ["192.0.2.2", "192.0.2.1"], "description": "two", "ttl": None}
    await sets.update(made, {key: value for key, value in second.items() if value is not None})
    shown = await dns.shown(place)
    assert (shown["records"], shown["description"], shown["ttl"]) == (["192.0.2.2", "192.0.2.1"], "two", None)
    await sets.update(made, {**first, "records": second["records"]})
    assert (await dns.shown(place))["description"] is None
    for change in ({"name": "web"}, {"type": "TXT"}):
        kind = RecordSet.properties[next(iter(change))]
        assert kind.change.value == "replacement"

    unnamed = await sets.create({"zone": zone, "type": "TXT", "records": ['"a b"']}, "a-name")
    name = (await dns.shown(f"/v2/zones/{zone}/recordsets/{unnamed.physical_id}"))["name"]
    assert name.endswith(".example.test.") and "a-name" in name and len(name.split(".")[0]) <= 63
    await sets.delete(made)
    with pytest.raises(CloudError, match="Could not find RecordSet"):
        await dns.shown(place)


async def test_impossible_values_are_refused(bench: MakeBench) -> None:
    for given, message in (
        ({"name": "a.test."}, "email must be given"),
        ({"name": "a.test.", "type": "SECONDARY"}, "primaries must be given"),
        ({**EXAMPLE, "ttl": 0}, "ttl|0"),
        ({**EXAMPLE, "masters": ["192.0.2.1"], "primaries": ["192.0.2.1"]}, "older name"),
    ):
        with pytest.raises(BadProperties, match=message):
            await bench(Zone).create(given)
    with pytest.raises(CloudError, match="does not end with a dot"):
        await bench(Zone).create({"name": "no-dot.test", "email": "a@example.test"})
    await bench(Zone).create(EXAMPLE)
    with pytest.raises(CloudError, match="Duplicate Zone") as refused:
        await bench(Zone).create(EXAMPLE)
    assert refused.value.lasting
    outside = {"zone": "example.test.", "name": "www.other.test.", "type": "A", "records": ["192.0.2.1"]}
    with pytest.raises(CloudError, match="not contained within"):
        await bench(RecordSet).create(outside)


async def test_zone_creation_is_retried_during_deletion_of_same_name(bench: MakeBench, dns: Dns) -> None:
    zone = await bench(Zone).create(EXAMPLE)
    await dns.cloud.delete("designate", f"/v2/zones/{zone.physical_id}")
    with pytest.raises(CloudError, match="Duplicate Zone") as refused:
        await bench(Zone).create(EXAMPLE)
    assert refused.value.conflict and not refused.value.lasting


async def test_an_interrupted_creation_is_found_and_nothing_else(bench: MakeBench) -> None:
    zones, sets = bench(Zone), bench(RecordSet)
    zone = await zones.crash_after_create(EXAMPLE)
    assert zone.physical_id is not None
    zones.recorded.add(zone.physical_id)
    assert (await zones.crash_after_create({**EXAMPLE, "name": "other.test."})).physical_id != zone.physical_id
    record = {"zone": zone.physical_id, "name": "www", "type": "A", "records": ["192.0.2.1"]}
    made = await sets.crash_after_create(record)
    assert made.physical_id is not None
    call = sets.call(made, "CREATE", await sets.finalized({**record, "records": ["192.0.2.9"]}))
    assert await sets.kind.find(call) is None


async def test_zone_in_error_is_sent_again(bench: MakeBench, dns: Dns) -> None:
    zones, sets = bench(Zone), bench(RecordSet)
    zone = await zones.create(EXAMPLE)
    record = {"zone": zone.physical_id, "name": "www", "type": "A", "records": ["192.0.2.1"]}
    made = await sets.create(record)
    place = f"/v2/zones/{zone.physical_id}/recordsets/{made.physical_id}"
    dns.fail("PUT", "/zones/*/recordsets/*")
    with pytest.raises(ActionFailed, match="status ERROR"):
        await sets.update(made, {**record, "ttl": 90})
    made.properties = await sets.finalized({**record, "ttl": 90})
    assert (await dns.shown(place))["status"] == "ERROR"
    await sets.update(made, {**record, "ttl": 90})
    assert (await dns.shown(place))["status"] == "ACTIVE"


async def test_record_set_is_deleted_before_its_replacement(bench: MakeBench, dns: Dns) -> None:
    zone = str((await bench(Zone).create(EXAMPLE)).physical_id)
    sets = bench(RecordSet)
    alias = {"zone": zone, "name": "www", "type": "CNAME", "records": ["web.example.test."]}
    address = {"zone": zone, "name": "www.example.test.", "type": "A", "records": ["192.0.2.1"]}
    new = await sets.replaced(await sets.create(alias), address)
    listed = await dns.cloud.list("designate", f"/v2/zones/{zone}/recordsets", "recordsets", {"name": "www*"})
    assert [(item["id"], item["type"]) for item in listed] == [(new.physical_id, "A")]
    await sets.replaced(new, {**address, "name": "other"})


async def test_zone_with_records_is_not_replaced(bench: MakeBench, dns: Dns) -> None:
    zones = bench(Zone)
    zone = await zones.create(EXAMPLE)
    tiered = {**EXAMPLE, "attributes": {"tier": "gold"}}
    with pytest.raises(Conflict, match="record sets would be lost"):
        await zones.replaced(zone, tiered)
    assert not zones.excludes(zone.properties, await zones.finalized({**tiered, "name": "other.test."}))
    assert (await dns.shown(f"/v2/zones/{zone.physical_id}"))["status"] == "ACTIVE"

    dns.fail("POST", "/zones")
    broken = zones.resource("broken")
    broken.properties = await zones.finalized({**EXAMPLE, "name": "broken.test."})
    with pytest.raises(ActionFailed, match="status ERROR"):
        await zones.run("create", broken)
    await zones.replaced(broken, {**EXAMPLE, "name": "broken.test."})
