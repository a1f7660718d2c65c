"""Template formats that packages offer for Heat."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from stoker.base.errors import TemplateInvalid
from stoker.base.extensions import PluginInvalid
from stoker.template.functions.registered import functions
from stoker.template.versions import by_name, functions_of, list_versions
from tests.heat_plugins import conftest
from tests.heat_plugins.conftest import Begin

NAME = "heat_template_version.2030-01-01"


def template(rack: Any, **parts: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2030-01-01",
        "parameters": {"level": {"type": "string", "default": "production"}},
        "conditions": {"safe": {"is_production": {"get_param": "level"}}},
        "resources": {
            "word": {"type": "OS::Heat::Value", "properties": {"value": "7"}},
            "none": {"type": "OS::Heat::None", "condition": {"not": "safe"}},
        },
        "outputs": {
            "rack": {"value": {"rack": rack}},
            "safe": {"value": {"if": ["safe", "yes", "no"]}},
            "joined": {"value": {"join": ["/", ["a", "b"]]}},
            **parts,
        },
    }


async def test_a_format_of_a_plug_in(begin: Begin) -> None:
    """Its functions get the values of their arguments, of resources too; the rest is that of the format below."""
    world = await begin()
    stack = await world.create("racks", template(["r", {"get_attr": ["word", "value"]}]))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    rack = {"name": "r-07", "parts": ["r", 7]}
    assert world.outputs(stack) == {"rack": rack, "safe": "yes", "joined": "a/b"}
    assert set(await world.resources("racks")) == {"word"}
    for definition, problem in (
        (template({"row": "r"}), "rack is refused by its plug-in: takes a list: a row and a number"),
        (template(["r", 1], digest={"value": {"digest": ["md5", "x"]}}), "digest does not exist in"),
    ):
        with pytest.raises(TemplateInvalid, match=problem):
            await world.create("other", definition)
    stack = await world.create("other", template(["r", -1]))
    (output,) = [each for each in stack["outputs"] if each["output_key"] == "rack"]
    assert "rack: the number must not be negative" in output["output_error"]


def test_lists_of_the_api(installed: None) -> None:
    """The version and its functions are listed, and their classes are found by name in other processes."""
    assert {"version": NAME, "type": "hot", "aliases": []} in list_versions()
    listed = {
        each["functions"]: each["description"] for each in functions_of(NAME, with_condition_functions=True) or ()
    }
    assert listed["rack"] == "The name of a rack; takes a row and a number." and "is_production" in listed
    variant = by_name()[("heat_template_version", "2030-01-01")].functions["rack"]
    made = functions()[variant]
    assert pickle.loads(pickle.dumps(made)) is made


@pytest.mark.parametrize(
    ("name", "cls", "problem"),
    [
        (NAME, "WithSections", "WithSections defines SECTIONS, param_schemata"),
        (NAME, "WithReferences", "refers: Refers.dependencies would not be called"),
        (NAME, "WithExtension", "list_join: Longer extends a function of Heat"),
        (NAME, "RackName", "must be a class derived from one in heat.engine.hot.template"),
        (NAME, "NoSuchClass", "AttributeError"),
        ("rack_template_version.1", "RackTemplate", "a template states its version with heat_template_version"),
        ("heat_template_version.2018-08-31", "RackTemplate", "is offered by stoker "),
    ],
)
def test_a_format_that_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, name: str, cls: str, problem: str
) -> None:
    entry_points = conftest.ENTRY_POINTS.replace(
        f"{NAME} = tests.heat_plugins.formats:RackTemplate", f"{name} = tests.heat_plugins.formats:{cls}"
    )
    monkeypatch.setattr(conftest, "ENTRY_POINTS", entry_points)
    request.getfixturevalue("installed")
    with pytest.raises(PluginInvalid) as caught:
        by_name()
    assert problem in caught.value.problems[0]
