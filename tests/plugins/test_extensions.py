"""Extensions of installed packages: how they are found, and what is refused with which message."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from stoker.base.extensions import PluginInvalid, offers, working_offers
from stoker.cloud.finders import finders
from stoker.cloud.services import services
from stoker.plugins.on_demand import TypesOnDemand
from stoker.plugins.registry import Registry
from tests.plugins.conftest import Install

SERVICE = """
from stoker.cloud.finders import Finder, Search
from stoker.cloud.services import Service
from stoker.plugins.constraints import Exists

SERVICES = {"widgets": Service("widgets", ("widget-store",), "v1")}
FINDERS = {"widgets.widget": Finder("widgets", "/widgets", (Search("name"),), "widgets")}
CONSTRAINTS = {"widgets.widget": Exists("widgets.widget")}
"""
GROUPS = {
    "stoker.services": "widgets:SERVICES",
    "stoker.finders": "widgets:FINDERS",
    "stoker.constraints": "widgets:CONSTRAINTS",
}


def test_a_package_adds_a_service_with_a_finder_and_a_constraint(install: Install) -> None:
    install("widgets", GROUPS, SERVICE)
    assert services()["widgets"].catalog_types == ("widget-store",)
    assert finders()["widgets.widget"].service == "widgets"
    assert {"nova", "neutron"} <= services().keys()
    check = Registry.from_entry_points().constraints.get("widgets.widget")
    assert check is not None
    assert (check.service, check.collection) == ("widgets", "/widgets")


def test_finder_for_unknown_service_is_refused(install: Install) -> None:
    install("widgets", {"stoker.finders": GROUPS["stoker.finders"]}, SERVICE)
    with pytest.raises(PluginInvalid, match=r"the finder 'widgets\.widget' needs the service 'widgets'"):
        Registry.from_entry_points()


def test_constraint_with_unknown_finder_is_refused(install: Install) -> None:
    install("widgets", {"stoker.constraints": GROUPS["stoker.constraints"]}, SERVICE)
    with pytest.raises(PluginInvalid, match=r"the constraint 'widgets\.widget' needs the finder 'widgets\.widget'"):
        Registry.from_entry_points()


def test_two_packages_with_the_same_name_are_both_named(install: Install) -> None:
    install("widgets", {"stoker.services": GROUPS["stoker.services"]}, SERVICE)
    install("gadgets", {"stoker.services": "gadgets:SERVICES"}, SERVICE)
    with pytest.raises(PluginInvalid, match=r"'widgets' is offered by gadgets \(.*\) and by widgets \(.*uninstall"):
        services()


def test_a_package_cannot_replace_a_part_of_stoker(install: Install) -> None:
    source = "from stoker.cloud.services import Service\nSERVICES = {'nova': Service('nova', ('elsewhere',))}\n"
    install("taker", {"stoker.services": "taker:SERVICES"}, source)
    with pytest.raises(PluginInvalid, match=r"'nova' is offered by stoker \(.*\) and by taker \("):
        services()


def test_two_types_of_the_same_name_name_their_packages(install: Install) -> None:
    source = "from stoker.resources.heat.value import Value\nclass Mine(Value):\n    type_name = {!r}\nTYPES = [Mine]\n"
    install("first", {"stoker.resources": "first:TYPES"}, source.format("Example::Thing"))
    install("second", {"stoker.resources": "second:TYPES"}, source.format("Example::Thing"))
    with pytest.raises(PluginInvalid, match=r"'Example::Thing' is offered by first \(.* and by second \("):
        Registry.from_entry_points()


def test_stokers_own_types_are_imported_on_demand() -> None:
    """A family that imports its types with its package would slow every start of the linter down."""
    own = [offer for offer in offers("stoker.resources") if offer.package == "stoker"]
    assert [offer.name for offer in own if not isinstance(offer.value, TypesOnDemand)] == ["placeholders"]


def test_stokers_own_types_are_configured_when_they_are_imported_once() -> None:
    registry = Registry.from_entry_points({"restart_on_signal": False})
    restarter = registry.types["OS::Heat::HARestarter"]
    assert getattr(restarter, "enabled") is False  # noqa: B009
    registry.load()
    assert registry.types.get("OS::Heat::HARestarter") is restarter
    assert dict(registry.types)["OS::Heat::HARestarter"] is restarter
    assert registry.types.get("OS::Heat::NoSuchType") is None


def test_a_table_of_types_that_cannot_be_imported_is_refused_with_every_problem(install: Install) -> None:
    places = {"Example::Other": "value:Value", "Example::Missing": "no_such_module:Thing"}
    source = (
        "from stoker.plugins.on_demand import TypesOnDemand\n"
        f"TYPES = TypesOnDemand('stoker.resources.heat', {places!r})\n"
    )
    install("tabled", {"stoker.resources": "tabled:TYPES"}, source)
    with pytest.raises(PluginInvalid) as caught:
        Registry.from_entry_points()
    other, missing = caught.value.problems
    assert re.search(r"tabled \(stoker.resources: own.*Example::Other\).*its type_name is another", other)
    assert re.search(r"tabled \(stoker.resources: own.*Example::Missing\).*ModuleNotFoundError", missing)
    quick = Registry.on_demand()
    assert quick.types.keys() >= {"OS::Heat::Value", *places}
    assert quick.types["OS::Heat::Value"] is quick.types.get("OS::Heat::Value")
    with pytest.raises(PluginInvalid, match=r"Example::Missing"):
        quick.types.get("Example::Missing")


@pytest.mark.parametrize("group", ["resources", "constraints", "services", "finders"])
def test_unloadable_package_is_named(install: Install, group: str) -> None:
    install("broken", {f"stoker.{group}": "broken:OBJECTS"}, "import no_such_module\n")
    with pytest.raises(PluginInvalid, match=rf"broken \(stoker\.{group}: own.*no_such_module.*uninstall it") as caught:
        Registry.from_entry_points()
    assert len(caught.value.problems) == 1


def test_an_object_of_another_kind_is_refused(install: Install) -> None:
    install("wrong", {"stoker.services": "wrong:SERVICES"}, "SERVICES = {'wrong': 'https://example.org'}\n")
    with pytest.raises(PluginInvalid, match=r"wrong \(.*\): 'wrong' must be a Service, not str"):
        services()
    install("list", {"stoker.finders": "list:FINDERS"}, "FINDERS = ['finder']\n")
    with pytest.raises(PluginInvalid, match="must be a mapping from names to Finder objects"):
        offers("stoker.services") and finders()


def test_a_broken_event_sink_is_logged_and_left_out(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    install("broken", {"stoker.event_sinks": "broken:SINKS"}, "import no_such_module\n")
    assert set(Registry.from_entry_points().event_sinks) == {"zaqar-queue"}
    assert "broken (stoker.event_sinks: own = broken:SINKS): the plug-in cannot be loaded" in caplog.text
    assert "broken" not in {offer.package for offer in working_offers("stoker.event_sinks")}


def test_the_help_of_the_command_line_loads_no_plug_in() -> None:
    program = (
        "import sys\nfrom stoker.cli.main import cli\n"
        "cli(['--help'], standalone_mode=False)\n"
        "from stoker.base import extensions\n"
        "print('LOADED', sorted(name for name in sys.modules if name.startswith('stoker.resources')))\n"
        "print('READ', extensions._declared.cache_info().currsize, extensions._loaded.cache_info().currsize)\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "LOADED []" in shown.stdout
    assert "READ 0 0" in shown.stdout
