"""A request with mistakes in several sections is refused with all of them, whatever stage finds each."""

from __future__ import annotations

import pytest

from stoker.base.errors import TemplateInvalid
from testing.harness import World

UNREADABLE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: nummber}
  name: {type: string}
resources:
  net: {type: 'OS::Neutron::Nett', properties: {name: {get_param: size}}}
  value: {type: 'OS::Heat::Value', properties: {value: {get_param: nothing}}, tipe: x}
"""
UNBOUND = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number}
  name: {type: string, constraints: [{length: {max: 3}}]}
resources:
  net: {type: 'OS::Neutron::Nett', properties: {name: {get_param: size}}}
"""


async def test_unreadable_template_is_reported(world: World) -> None:
    with pytest.raises(TemplateInvalid) as refused:
        await world.create("web", UNREADABLE, parameters={"nam": "x"})
    assert [item.rule for item in refused.value.diagnostics] == [
        "parameter-schema",
        "resource-key",
        "unknown-parameter",
        "parameter-missing",
        "unknown-type",
        "function",
    ]


async def test_parameters_and_types_are_reported_together(world: World) -> None:
    with pytest.raises(TemplateInvalid) as refused:
        await world.create("web", UNBOUND, parameters={"size": "big", "name": "long", "nam": "x"})
    assert [(item.rule, item.path[:2]) for item in refused.value.diagnostics] == [
        ("unknown-parameter", ("parameters", "nam")),
        ("parameter-value", ("parameters", "size")),
        ("parameter-constraint", ("parameters", "name")),
        ("unknown-type", ("resources", "net")),
    ]


async def test_kept_parameters_are_not_reported_as_missing(world: World) -> None:
    template = UNBOUND.replace("Nett", "Net")
    await world.create("web", template, parameters={"size": 3}, environment={"parameters": {"name": "abc"}})
    with pytest.raises(TemplateInvalid) as replaced:
        await world.update("web", UNREADABLE, existing_parameters=True, parameters={"name": "abc"})
    with pytest.raises(TemplateInvalid) as patched:
        await world.call("stack_patch", ref={"name": "web", "id": None}, template=UNREADABLE)
    for refused in replaced, patched:
        assert [item.rule for item in refused.value.diagnostics] == [
            "parameter-schema",
            "resource-key",
            "unknown-type",
            "function",
        ]
