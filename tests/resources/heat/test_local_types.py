"""Types that need no service: values, random strings, delays, test resources."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from stoker.plugins.outcome import Done, InProgress, Replace
from stoker.resources.heat.delay import Delay
from stoker.resources.heat.placeholder import NoResource
from stoker.resources.heat.random_string import CLASSES, RandomString, random_string
from stoker.resources.heat.test_resource import TestResource
from stoker.resources.heat.value import Value
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("string", 5, "5"),
        ("number", "5", 5),
        ("boolean", "True", True),
        ("json", {"a": 1}, {"a": 1}),
        ("comma_delimited_list", [1, 2], [1, 2]),
        (None, {"a": [1]}, {"a": [1]}),
    ],
)
async def test_value_is_converted(local: Any, kind: str | None, given: Any, value: Any) -> None:
    bench: Bench = local(Value)
    resource = await bench.create({"type": kind, "value": given})
    assert await bench.attribute(resource, "value") == value
    assert bench.reference(resource) == resource.physical_id


async def test_value_of_the_wrong_type_is_refused(local: Any) -> None:
    with pytest.raises(BadProperties, match="value: 'x' is not a number"):
        await local(Value).create({"type": "number", "value": "x"})


async def test_value_changes_in_place(local: Any) -> None:
    bench: Bench = local(Value)
    resource = await bench.create({"value": 1})
    assert await bench.update(resource, {"value": 2}) == Done()
    assert await bench.attribute(resource, "value") == 2


def test_random_string_contains_the_minimums() -> None:
    text = random_string([("ab", 3), ("!", 2)], 12)
    counted = Counter(text)
    assert len(text) == 12
    assert set(counted) <= set("ab!")
    assert counted["a"] + counted["b"] >= 3
    assert counted["!"] >= 2


@pytest.mark.parametrize("name", CLASSES)
async def test_random_string_of_a_class(local: Any, name: str) -> None:
    bench: Bench = local(RandomString)
    resource = await bench.create({"character_classes": [{"class": name}], "length": 64})
    value = await bench.attribute(resource, "value")
    assert len(value) == 64
    assert set(value) <= set(CLASSES[name])
    assert bench.reference(resource) == value


async def test_random_string_uses_the_default_class_beside_sequences(local: Any) -> None:
    bench: Bench = local(RandomString)
    resource = await bench.create({"character_sequences": [{"sequence": "%", "min": 31}]})
    value = await bench.attribute(resource, "value")
    assert value.count("%") == 31
    assert len(value) == 32


async def test_random_string_of_the_older_property(local: Any) -> None:
    bench: Bench = local(RandomString)
    resource = await bench.create({"sequence": "octdigits"})
    assert set(await bench.attribute(resource, "value")) <= set("01234567")


async def test_random_string_is_kept_when_creation_resumes(local: Any) -> None:
    bench: Bench = local(RandomString)
    resource = await bench.create({})
    before = await bench.attribute(resource, "value")
    await bench.run("create", resource)
    assert await bench.attribute(resource, "value") == before


async def test_random_string_too_short_for_its_minimums(local: Any) -> None:
    with pytest.raises(BadProperties, match="less than the sum of the minimums, 5"):
        await local(RandomString).create({"length": 4, "character_classes": [{"class": "digits", "min": 5}]})


def test_reference_before_creation_is_the_name(local: Any) -> None:
    bench: Bench = local(RandomString)
    assert bench.reference(bench.resource("secret")) == "secret"


async def test_delay_waits_in_its_actions_only(local: Any) -> None:
    bench: Bench = local(Delay)
    began = bench.clock.now()
    resource = await bench.create({"min_wait": 30, "actions": ["DELETE"]})
    assert bench.clock.now() == began
    await bench.delete(resource)
    assert bench.clock.now() == began + 30


async def test_delay_jitter_stays_below_its_bound(local: Any) -> None:
    bench: Bench = local(Delay)
    began = bench.clock.now()
    await bench.create({"min_wait": 10, "max_jitter": 2, "jitter_multiplier": 5})
    assert began + 10 <= bench.clock.now() <= began + 20
    assert [type(outcome) for outcome in bench.entries] == [InProgress, Done]


async def test_delay_longer_than_the_timeout_of_the_stack(local: Any) -> None:
    bench: Bench = local(Delay)
    bench.stack = bench.stack.__class__("s", "web", "p", "s", "arn", timeout_minutes=1)
    with pytest.raises(ActionFailed, match="timeout of 1 minutes"):
        await bench.create({"min_wait": 61})


async def test_delay_is_replaced_when_changed(local: Any) -> None:
    bench: Bench = local(Delay)
    resource = await bench.create({})
    assert isinstance(await bench.update(resource, {"min_wait": 1}), Replace)


async def test_test_resource_waits_and_fails(local: Any) -> None:
    bench: Bench = local(TestResource)
    began = bench.clock.now()
    with pytest.raises(ActionFailed, match="ValueError"):
        await bench.create({"fail": True, "wait_secs": 5, "action_wait_secs": {"create": 7}})
    assert bench.clock.now() == began + 7


async def test_test_resource_updates_and_replaces(local: Any) -> None:
    bench: Bench = local(TestResource)
    resource = await bench.create({"value": "a"})
    assert await bench.attribute(resource, "output") == "a"
    await bench.update(resource, {"value": "b"})
    assert await bench.attribute(resource, "output") == "b"
    assert isinstance(await bench.update(resource, {"value": "c", "update_replace": True}), Replace)


async def test_test_resource_without_duration_waits_for_signal(local: Any) -> None:
    bench: Bench = local(TestResource)
    resource = bench.resource()
    resource.properties = await bench.finalized({"wait_secs": -1})
    outcome = await bench.kind.create(bench.call(resource, "CREATE", resource.properties))
    assert isinstance(outcome, InProgress)
    assert outcome.after is None


async def test_test_resource_sends_requests_while_it_waits(bench: Any) -> None:
    made: Bench = bench(TestResource)
    began = made.clock.now()
    await made.create({"wait_secs": 3, "client_name": "neutron", "entity_name": "networks"})
    assert made.clock.now() == began + 3
    assert len(made.entries) == 4


async def test_test_resource_of_no_service(local: Any) -> None:
    with pytest.raises(BadProperties, match="unknown service 'novo'"):
        await local(TestResource).create({"client_name": "novo"})


async def test_none_type_accepts_any_properties(local: Any) -> None:
    bench: Bench = local(NoResource)
    resource = bench.resource()
    await bench.run("create", resource, properties={"anything": [1]})
    assert resource.physical_id == resource.uuid
    assert await bench.attribute(resource, "whatever") is None
