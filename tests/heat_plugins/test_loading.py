"""Which modules are loaded, and what is said of those that cannot be."""

from __future__ import annotations

import copy
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from heat.common import exception
from heat.engine import attributes, properties, scheduler, support
from heat.engine.translation import TranslationRule
from stoker.base.extensions import PluginInvalid
from stoker.plugins.registry import Registry
from stoker_heat_plugins import built_in_names, require_no_heat
from stoker_heat_plugins.schema import to_properties
from tests.heat_plugins.conftest import MODULES

BASE = "from heat.engine import properties, resource, constraints\n"


def registry(*directories: Path) -> Registry:
    return Registry.from_entry_points({"plugin_dirs": [str(place) for place in directories]})


SERVER = "from heat.engine.resources.openstack.nova import server\n"


def of_server(body: str) -> str:
    return f"{SERVER}class Odd(server.Server):\n    {body}\ndef resource_mapping():\n    return {{'Odd::One': Odd}}\n"


def of_class(body: str) -> str:
    return f"{BASE}class Odd(resource.Resource):\n    {body}\ndef resource_mapping():\n    return {{'Odd::One': Odd}}\n"


def test_declarations(installed: None) -> None:
    """Types have the schema that Heat's API would show; missing directories are left out."""
    types = registry(MODULES, Path("/usr/lib/no-such-directory")).types
    schema: dict[str, Any] = {name: prop.to_schema() for name, prop in types["Vendor::Net::Pool"].properties.items()}
    assert schema["method"]["constraints"] == [{"allowed_values": ["round-robin", "least"]}]
    assert schema["port"]["update_allowed"] and not schema["method"]["update_allowed"]
    assert set(schema["members"]["schema"]["*"]["schema"]) == {"address", "weight"}
    assert types["Vendor::Net::Pool"].support.version == "2015.1"
    assert types["Vendor::Net::Pool"].signalable and not types["Vendor::Net::Device"].signalable
    assert types["Vendor::Net::Pool"].checkable and not types["Vendor::Net::Device"].checkable
    token = types["Vendor::Util::Token"].properties["Length"]
    assert token.default == 4 and token.to_schema()["constraints"] == [{"range": {"min": 1}}]
    assert registry().types.get("Vendor::Net::Pool") is None
    port, own = types["Vendor::Net::DownPort"], types["OS::Neutron::Port"]
    assert port.properties["admin_state_up"].default is False and own.properties["admin_state_up"].default is True
    assert port.properties["fixed_ips"] is own.properties["fixed_ips"] and "value_specs" not in port.properties
    assert type(port).__mro__.index(type(own)) and port.extension == own.extension and port.id_is_new
    server = types["Vendor::Compute::Server"]
    assert server.copy is types["OS::Nova::Server"].copy and {"racks", "flavor"} <= server.properties.keys()
    assert types["Vendor::Util::RandomWord"].local and not server.local


def test_heat_built_in_types(installed: None) -> None:
    """Each class has the properties of its type as Stoker declares them, also after they were copied."""
    built_in_names.install()
    for module, classes in built_in_names.MODULES.items():
        for name in classes:
            cls = getattr(import_module(module), name)
            assert not cls.kind.nested and not cls.kind.any_properties
            copied = type("Copied", (cls,), {"properties_schema": copy.deepcopy(cls.properties_schema)})
            found, declared = to_properties(copied), cls.kind().properties
            assert found.keys() == declared.keys() and all(found[key] is declared[key] for key in declared), name


@pytest.mark.parametrize(
    ("source", "problems"),
    [
        ("from heat.engine.resources.aws.ec2 import instance\n", ["does not offer what the module imports", "aws"]),
        ("from heat.engine.resource import Missing\n", ["does not offer what the module imports", "Missing"]),
        ("import no_such_library\n", ["install the package that contains it", "no_such_library"]),
        ("raise ValueError('of its own')\n", ["cannot be imported: ValueError: of its own"]),
        (
            "from heat.common import exception\ndef f():\n    raise exception.Odd()\n",
            ["line 3 uses exception.Odd, which stoker-heat-plugins does not offer"],
        ),
        (
            of_class("def handle_create(self): self.stack.preview_resources()"),
            ["line 3 uses self.stack.preview_resources"],
        ),
        (of_class("def child_template(self): pass"), ["Odd::One", "derived from StackResource"]),
        ("from heat.engine.resources.openstack.heat import resource_group\n", ["does not offer", "resource_group"]),
        (f"{SERVER}ONE = server.Server.BLOCKS\n", ["does not offer Server.BLOCKS"]),
        (
            of_server("def image_id(self, name): return name"),
            [
                "Odd::One: Odd.image_id would not be called",
                "OS::Nova::Server of Stoker has no such method",
                "Remove it",
            ],
        ),
        (
            of_server("def handle_create(self): return super().build_nics()"),
            ["Odd.handle_create calls super().build_nics, which OS::Nova::Server does not offer"],
        ),
        (
            of_server("def handle_delete(self): return self._delete_server()"),
            ["Odd.handle_delete uses self._delete_server, which OS::Nova::Server does not offer"],
        ),
        (
            of_server("def handle_snapshot(self): return None"),
            ["Odd.handle_snapshot would not be called", "makes its snapshots itself"],
        ),
        (of_class("properties_schema = {'a': properties.Schema('Text')}"), ["Odd::One", "the type 'Text'"]),
        (
            of_class("properties_schema = {'a': properties.Schema('String', constraints=[len])}"),
            ["Odd::One", "constraint of the class"],
        ),
        (
            of_class(
                "properties_schema={'a':properties.Schema('String',constraints=[constraints.AllowedPattern('(')])}"
            ),
            ["Odd::One", "the pattern '('"],
        ),
        (
            of_class(
                "properties_schema={'a':properties.Schema('String',constraints=[constraints.CustomConstraint('b')])}"
            ),
            ["Odd::One", "unknown custom constraint 'b'"],
        ),
        ("def resource_mapping():\n    return {'Odd::One': 1}\n", ["must be a class derived from"]),
        ("def resource_mapping():\n    return {}['x']\n", ["resource_mapping() fails: KeyError"]),
        (
            f"{BASE}def resource_mapping():\n    return {{'OS::Nova::Server': resource.Resource}}\n",
            ["'OS::Nova::Server' is offered by stoker", "and by stoker-heat-plugins"],
        ),
    ],
)
def test_a_module_that_cannot_be_used(installed: None, tmp_path: Path, source: str, problems: list[str]) -> None:
    """The message names the file, or the type, and the reason; every module has its own."""
    directory = tmp_path / "plugins"
    directory.mkdir()
    (directory / "odd.py").write_text(source)
    with pytest.raises(PluginInvalid) as caught:
        registry(directory)
    (problem,) = caught.value.problems
    for problem in problems:
        assert problem in problem


def test_unsupported_heat_objects(installed: None, tmp_path: Path) -> None:
    """Tests of a package are not imported; available_resource_mapping takes the place of resource_mapping."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("import no_such_library\n")
    (tmp_path / "test_more.py").write_text("import no_such_library\n")
    available = of_class("pass") + "def available_resource_mapping():\n    return {'Odd::Two': Odd}\n"
    (tmp_path / "odd.py").write_text(available)
    types = registry(tmp_path).types
    assert "Odd::Two" in types and "Odd::One" not in types


def test_tasks() -> None:
    """A task is a generator that is run step by step, also through those that it yields."""
    seen: list[int] = []

    def inner() -> Any:
        seen.append(1)
        yield
        seen.append(2)

    @scheduler.wrappertask
    def outer() -> Any:
        yield inner()
        seen.append(3)

    task = scheduler.TaskRunner(outer)
    task.start()
    assert seen == [1] and not task.done()
    assert task.step() and seen == [1, 2, 3]
    scheduler.TaskRunner(seen.append, 4)()
    assert seen[-1] == 4
    with pytest.raises(scheduler.Timeout):
        scheduler.TaskRunner(inner)(wait_time=0, timeout=-1)


def test_type_as_support_status() -> None:
    """heat-infoblox declares its attributes like this."""
    misplaced = attributes.Schema("A job.", attributes.Schema.MAP)
    assert (misplaced.type, misplaced.support_status.status) == ("Map", "SUPPORTED")
    deprecated = attributes.Schema("A job.", support.SupportStatus(support.DEPRECATED), type=attributes.Schema.LIST)
    assert (deprecated.type, deprecated.support_status.status) == ("List", "DEPRECATED")


def test_exceptions_and_translation() -> None:
    assert str(exception.EntityNotFound(entity="Flavor", name="x")) == "The Flavor (x) could not be found."
    assert "a, b" in str(exception.ResourcePropertyConflict("a", "b"))
    failure = exception.ResourceFailure(KeyError("x"), None, action="CREATE")
    assert failure.error == "KeyError" and isinstance(failure.exc, KeyError)
    schema = {
        "old": properties.Schema("String"),
        "new": properties.Schema("String"),
        "items": properties.Schema("List"),
    }
    values = properties.Properties(schema, {"old": "x", "items": [{"net": "blue"}, {"net": None}]})
    rules = [
        TranslationRule(values, TranslationRule.REPLACE, ["new"], value_path=["old"]),
        TranslationRule(values, TranslationRule.RESOLVE, ["items", "net"], client_plugin=str, finder="upper"),
        TranslationRule(values, TranslationRule.DELETE, ["old"]),
    ]
    for rule in rules:
        rule.apply(values.data)
    assert dict(values) == {"old": None, "new": "x", "items": [{"net": "BLUE"}, {"net": None}]}


def test_heat_in_the_same_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules have the same names: which of the two a plug-in would import depends on the path."""
    require_no_heat()
    information = tmp_path / "openstack_heat-27.0.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: openstack-heat\nVersion: 27.0.1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"openstack-heat 27\.0\.1 is installed in the same environment"):
        require_no_heat()
