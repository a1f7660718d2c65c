"""OS::Neutron::SecurityGroup and SecurityGroupRule on the emulated network service."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError, NotSupported
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.security_group import SecurityGroup
from stoker.resources.neutron.security_group_rule import SecurityGroupRule
from tests.resources.resource_harness import BadProperties, Bench

SSH = {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}
WEB = {"protocol": "tcp", "port_range_min": 80, "port_range_max": 443, "remote_ip_prefix": "10.0.0.0/8"}


async def group_of(cloud: Cloud, identifier: str | None) -> dict[str, Any]:
    body: dict[str, Any] = (await cloud.get("neutron", f"/v2.0/security-groups/{identifier}"))["security_group"]
    return body


async def rules_of(cloud: Cloud, identifier: str | None, direction: str) -> list[tuple[Any, ...]]:
    """`(ethertype, protocol, first port, last port)` of the rules of a direction, sorted."""
    rules = (await group_of(cloud, identifier))["security_group_rules"]
    fields = ("ethertype", "protocol", "port_range_min", "port_range_max")
    return sorted(tuple(rule[name] for name in fields) for rule in rules if rule["direction"] == direction)


EVERYTHING_OUT = [("IPv4", None, None, None), ("IPv6", None, None, None)]


@pytest.fixture
def groups(bench: Any) -> Bench:
    made: Bench = bench(SecurityGroup)
    return made


class TestSecurityGroup:
    async def test_without_rules_one_request_creates_it(self, groups: Bench, calls: list[str]) -> None:
        group = await groups.create({"description": "nothing in"})
        assert len(calls) == 1
        made = await group_of(groups.cloud, group.physical_id)
        assert made["name"].startswith("web-thing-")
        assert made["description"] == "nothing in"
        assert await rules_of(groups.cloud, group.physical_id, "egress") == EVERYTHING_OUT

    async def test_rules_need_one_more_request(self, groups: Bench, calls: list[str]) -> None:
        group = await groups.create({"name": "web", "rules": [SSH, WEB, WEB, {"protocol": "icmp"}]})
        assert [call.split()[0] for call in calls] == ["POST", "POST"]
        assert groups.entries[-1] == Done()
        assert await rules_of(groups.cloud, group.physical_id, "ingress") == [
            ("IPv4", "icmp", None, None),
            ("IPv4", "tcp", 22, 22),
            ("IPv4", "tcp", 80, 443),
        ]
        assert await rules_of(groups.cloud, group.physical_id, "egress") == EVERYTHING_OUT

    async def test_an_egress_rule_replaces_the_default_rules(self, groups: Bench) -> None:
        rules = [{"direction": "egress", "protocol": "udp", "port_range_min": 53, "port_range_max": 53}]
        group = await groups.create({"rules": rules})
        assert await rules_of(groups.cloud, group.physical_id, "egress") == [("IPv4", "udp", 53, 53)]

    async def test_remote_groups(self, groups: Bench) -> None:
        other = await groups.create({"name": "other"}, "other")
        mode = {"remote_mode": "remote_group_id"}
        group = await groups.create({"rules": [{**SSH, **mode}, {**WEB, **mode, "remote_group_id": "other"}]})
        rules = (await group_of(groups.cloud, group.physical_id))["security_group_rules"]
        remotes = {rule["port_range_min"]: rule["remote_group_id"] for rule in rules if rule["direction"] == "ingress"}
        assert remotes == {22: group.physical_id, 80: other.physical_id}
        assert all(rule["remote_ip_prefix"] is None for rule in rules)

    async def test_only_rules_that_differ_are_touched(self, groups: Bench, calls: list[str]) -> None:
        group = await groups.create({"description": "old", "rules": [SSH, {"protocol": "icmpv6", "ethertype": "IPv6"}]})
        before = {rule["id"] for rule in (await group_of(groups.cloud, group.physical_id))["security_group_rules"]}
        calls.clear()
        await groups.update(group, {"name": "new", "rules": [WEB, {"protocol": "icmpv6", "ethertype": "IPv6"}]})
        assert [call.split()[0] for call in calls] == ["PUT", "GET", "DELETE", "POST"]
        made = await group_of(groups.cloud, group.physical_id)
        assert (made["name"], made["description"]) == ("new", "")
        assert len(before - {rule["id"] for rule in made["security_group_rules"]}) == 1
        assert ("IPv4", "tcp", 80, 443) in await rules_of(groups.cloud, group.physical_id, "ingress")
        await groups.update(group, {"name": "new", "rules": [{**WEB, "direction": "egress"}]})
        assert await rules_of(groups.cloud, group.physical_id, "ingress") == []
        await groups.update(group, {"name": "new"})
        assert await rules_of(groups.cloud, group.physical_id, "egress") == EVERYTHING_OUT

    async def test_stateful_stays_while_ports_are_in_the_group(self, groups: Bench, bench: Any, site: Any) -> None:
        group = await groups.create({"stateful": False})
        assert (await group_of(groups.cloud, group.physical_id))["stateful"] is False
        await groups.update(group, {"stateful": True})
        assert (await group_of(groups.cloud, group.physical_id))["stateful"] is True
        port = await bench(Port).create({"network": site.network, "security_groups": [group.physical_id]}, "port")
        with pytest.raises(NotSupported, match="ports"):
            await groups.update(group, {"stateful": False})
        with pytest.raises(CloudError) as caught:
            await groups.delete(group)
        assert caught.value.conflict
        await bench(Port).delete(port)
        await groups.delete(group)
        with pytest.raises(CloudError, match="404"):
            await group_of(groups.cloud, group.physical_id)

    async def test_an_interrupted_creation_is_found_and_finished(self, groups: Bench) -> None:
        group = await groups.crash_after_create({"rules": [SSH]})
        assert group.physical_id is not None
        await groups.run("create", group)
        await groups.run("create", group)
        assert await rules_of(groups.cloud, group.physical_id, "ingress") == [("IPv4", "tcp", 22, 22)]

    async def test_rules_whose_response_was_lost_are_not_created_twice(
        self, groups: Bench, served: ServedCloud
    ) -> None:
        fault = Fault(on="POST /network/v2.0/security-group-rules", do="succeed_but_fail", times=1)
        served.do(lambda: served.cloud.faults.add(fault))
        group = groups.resource()
        group.properties = await groups.finalized({"rules": [SSH]})
        call = groups.call(group, "CREATE", group.properties)
        outcome = await groups.kind.create(call)
        call.physical_id = group.physical_id = getattr(outcome, "physical_id", None)
        with pytest.raises(CloudError):
            await groups.kind.create(call)
        assert await groups.kind.create(call) == Done()
        assert await rules_of(groups.cloud, group.physical_id, "ingress") == [("IPv4", "tcp", 22, 22)]

    @pytest.mark.parametrize(
        ("properties", "problem"),
        [
            ({"name": "default"}, "default"),
            ({"rules": [{"protocol": "tcp", "port_range_min": 9, "port_range_max": 1}]}, "less than"),
            ({"rules": [{"protocol": "smoke"}]}, "smoke"),
        ],
    )
    async def test_rules_between_properties(self, groups: Bench, properties: dict[str, Any], problem: str) -> None:
        with pytest.raises(BadProperties, match=problem):
            await groups.finalized(properties)


class TestSecurityGroupRule:
    @pytest.fixture
    def rules(self, bench: Any) -> Bench:
        made: Bench = bench(SecurityGroupRule)
        return made

    @pytest.fixture
    async def group(self, groups: Bench) -> str:
        return str((await groups.create({"name": "web"}, "group")).physical_id)

    async def test_lifecycle(self, rules: Bench, group: str, calls: list[str]) -> None:
        calls.clear()
        rule = await rules.create({"security_group": group, "port_range_min": 22, "port_range_max": 22})
        assert [call.split()[0] for call in calls] == ["GET", "POST"]  # what looks like an id may be a name
        assert await rules_of(rules.cloud, group, "ingress") == [("IPv4", "tcp", 22, 22)]
        assert await rules.attribute(rule, "show", "security_group_id") == group
        await rules.delete(rule)
        await rules.delete(rule)
        assert await rules_of(rules.cloud, group, "ingress") == []

    async def test_a_remote_group_by_name(self, rules: Bench, group: str) -> None:
        rule = await rules.create({"security_group": "web", "remote_group": "web", "protocol": "icmp"})
        assert await rules.attribute(rule, "show", "remote_group_id") == group

    async def test_an_interrupted_creation_is_found_by_its_fields(self, rules: Bench, group: str) -> None:
        await rules.create({"security_group": group, "protocol": "tcp"}, "other")
        properties = {"security_group": group, "protocol": "icmpv6", "ethertype": "IPv6", "description": "ping"}
        found = await rules.crash_after_create(properties)
        assert found.physical_id is not None
        rules.recorded.add(found.physical_id)
        call = rules.call(rules.resource(), "CREATE", found.properties)
        assert await SecurityGroupRule().find(call) is None
        with pytest.raises(CloudError) as caught:
            await rules.create(properties)
        assert caught.value.conflict

    async def test_older_equal_rule_is_not_taken(self, rules: Bench, group: str) -> None:
        rule = await rules.create({"security_group": group})
        rules.recorded.clear()
        rules.advance(600)
        assert await SecurityGroupRule().find(rules.call(rule, "CREATE", rule.properties)) is None

    @pytest.mark.parametrize(
        ("properties", "problem"),
        [
            ({"remote_group": "g", "remote_ip_prefix": "10.0.0.0/8"}, "together"),
            ({"port_range_min": 9, "port_range_max": 1}, "less than"),
        ],
    )
    async def test_rules_between_properties(self, rules: Bench, properties: dict[str, Any], problem: str) -> None:
        with pytest.raises(BadProperties, match=problem):
            await rules.finalized({"security_group": "g", **properties})

    async def test_icmp_has_codes_less_than_types(self, rules: Bench, group: str) -> None:
        icmp = {"security_group": group, "protocol": "icmp", "port_range_min": 8, "port_range_max": 0}
        assert (await rules.create(icmp)).physical_id is not None
