"""Resources that are templates."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.plugins.resource import ResourceType
from stoker.resources.heat.nested_stacks.template_resource import TemplateResource, template_type
from stoker.schema.property import Finalizer
from stoker.schema.unknown import Unknown
from stoker.template.template import Template
from tests.resources.heat.nested_support import CHILD_ID, ChildInMemory
from tests.resources.resource_harness import ActionFailed, Bench

TEXT = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 1}
  names: {type: comma_delimited_list, default: ''}
  extra: {type: json, default: {}}
  label: {type: string}
resources:
  web: {type: OS::Heat::Value, properties: {value: 1}}
outputs:
  address: {value: 10.0.0.1}
"""


def kind_of(text: str) -> TemplateResource:
    made = template_type(Template.load(text), "web.yaml")
    assert isinstance(made, TemplateResource)
    return made


def bench_of(local: Any, child: ChildInMemory, text: str = TEXT) -> Bench:
    kind: type[ResourceType] = type(kind_of(text))
    bench: Bench = local(kind, child=child)
    return bench


async def test_properties_become_parameters(local: Any) -> None:
    child = ChildInMemory()
    resource = await bench_of(local, child).create({"label": "a", "size": "3"})
    action, request = child.asked[0]
    assert (action, request.parameters) == ("CREATE", {"label": "a", "size": 3})
    assert request.template_name == "web.yaml"
    assert resource.physical_id == CHILD_ID


@pytest.mark.parametrize(
    ("name", "value", "parameter"),
    [
        ("names", ["a", None, 2], "a,,2"),
        ("names", [], ""),
        ("names", "a,b", "a,b"),
        ("names", [{"k": 1, "l": 2}, {"k": 3}], ".member.0.k=1,.member.0.l=2,.member.1.k=3"),
        ("names", ["a", Unknown.of("net")], Unknown.of("net")),
        ("extra", {"a": 1}, {"a": 1}),
        ("extra", [{"a": 1}], '[{"a": 1}]'),
        ("extra", '{"a": 1}', '{"a": 1}'),
    ],
)
def test_value_as_the_parameter_gets_it(name: str, value: Any, parameter: Any) -> None:
    kind = kind_of(TEXT)
    finalizer = Finalizer()
    values = finalizer.properties(kind.properties, {name: value})
    assert finalizer.problems == []
    assert kind.child_of(values).parameters == {name: parameter}


async def test_outputs_are_attributes(local: Any) -> None:
    child = ChildInMemory(shown={"address": {"v4": ["10.0.0.1"]}})
    child.attributes[("web", ("value", "x"))] = 7
    bench = bench_of(local, child)
    resource = await bench.create({"label": "a"})
    assert await bench.attributes(
        resource,
        [
            ("address", "v4", 0),
            ("resource.web",),
            ("resource.web.value", "x"),
            ("resource.web", "value", "x"),
            ("resource.none",),
        ],
    ) == {
        ("address", "v4", 0): "10.0.0.1",
        ("resource.web",): "web-id",
        ("resource.web.value", "x"): 7,
        ("resource.web", "value", "x"): 7,
        ("resource.none",): None,
    }


async def test_reference_is_the_arn(local: Any) -> None:
    bench = bench_of(local, ChildInMemory())
    assert bench.reference(bench.resource("web")) == "web"
    resource = await bench.create({"label": "a"})
    name = bench.call(resource, "READ", {}).physical_name
    assert bench.reference(resource) == f"arn:openstack:heat::project:stacks/{name}/{CHILD_ID}"


async def test_reference_is_the_output_where_there_is_one(local: Any) -> None:
    child = ChildInMemory(shown={"OS::stack_id": "server-1"})
    bench = bench_of(local, child, TEXT + "  OS::stack_id: {value: server-1}\n")
    resource = await bench.create({"label": "a"})
    assert bench.reference(resource) == "server-1"
    child.next_action()
    child.shown["OS::stack_id"] = "server-2"
    await bench.update(resource, {"label": "b"})
    assert [action for action, _ in child.asked] == ["UPDATE"]
    assert bench.reference(resource) == "server-2"


async def test_child_failure_is_the_resource_failure(local: Any) -> None:
    child = ChildInMemory(failing={0: "NotFound: resources.web: no such image"})
    with pytest.raises(ActionFailed, match=r"resources\.web: no such image"):
        await bench_of(local, child).create({"label": "a"})


@pytest.mark.parametrize("verb", ["suspend", "resume", "check"])
async def test_actions_are_forwarded_to_the_child(local: Any, verb: str) -> None:
    child = ChildInMemory()
    bench = bench_of(local, child)
    resource = bench.resource()
    with pytest.raises(ActionFailed, match="has not been created"):
        await bench.run(verb, resource)
    resource.physical_id = CHILD_ID
    await bench.run(verb, resource)
    assert [action for action, _ in child.asked] == [verb.upper()]


async def test_delete_is_forwarded_even_if_the_child_id_is_unknown(local: Any) -> None:
    child = ChildInMemory()
    bench = bench_of(local, child)
    await bench.delete(bench.resource())
    assert [action for action, _ in child.asked] == ["DELETE"]
