"""Transports that packages offer: names in declarations, and what happens when a package is gone."""

from __future__ import annotations

import pytest

from stoker.base.errors import NotSupported
from stoker.base.extensions import PluginInvalid
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.plugins.transports import (
    configuration_transport,
    configuration_transports,
    deployment_transports,
    handle_transports,
    signal_transport,
    signal_transports,
)
from tests.plugins.conftest import Install

SOURCE = """
from stoker.plugins.outcome import Done
from stoker.plugins.transports import ConfigurationTransport, SignalTransport


class Shelf(ConfigurationTransport):
    collector = "shelf"
    place = "shelf_place"
    secrets = frozenset({"shelf_place"})

    async def prepare(self, call):
        return Done()

    async def configuration(self, call):
        return {}


class Smoke(SignalTransport):
    deployments = False
    secrets = frozenset({"smoke_place"})


CONFIGURATIONS = {"SHELF": Shelf()}
SIGNALS = {"SMOKE": Smoke()}
"""
GROUPS = {
    "stoker.configuration_transports": "signals:CONFIGURATIONS",
    "stoker.signal_transports": "signals:SIGNALS",
}


def allowed(kind: ResourceType | None, name: str) -> list[str]:
    assert kind is not None
    schema = kind.properties[name].constraints[0].to_schema()
    return list(schema["allowed_values"])


def test_the_names_are_allowed_values_of_the_types_that_may_use_them(install: Install) -> None:
    install("signals", GROUPS, SOURCE)
    registry = Registry.from_entry_points()
    assert "SHELF" in allowed(registry.get("OS::Nova::Server"), "software_config_transport")
    handle = allowed(registry.get("OS::Heat::WaitConditionHandle"), "signal_transport")
    deployment = allowed(registry.get("OS::Heat::SoftwareDeployment"), "signal_transport")
    assert ("SMOKE" in handle, "SMOKE" in deployment) == (True, False)
    assert set(handle) == set(handle_transports())
    assert set(deployment) == set(deployment_transports())


def test_their_secrets_are_redacted(install: Install) -> None:
    install("signals", GROUPS, SOURCE)
    registry = Registry.from_entry_points()
    server, handle = registry.get("OS::Nova::Server"), registry.get("OS::Heat::WaitConditionHandle")
    assert server is not None and handle is not None
    assert {"shelf_place", "password"} <= server.redacted_data
    assert {"smoke_place", "swift_signal_url", "password"} <= handle.redacted_data


def test_without_the_package_nothing_of_it_is_known() -> None:
    assert "SHELF" not in configuration_transports()
    assert "SMOKE" not in signal_transports()
    with pytest.raises(NotSupported, match="'SHELF' is not available: the package that offers it is not installed"):
        configuration_transport("SHELF")
    with pytest.raises(NotSupported, match="'SMOKE' is not available"):
        signal_transport("SMOKE")


@pytest.mark.parametrize("group", ["configuration_transports", "signal_transports"])
def test_one_that_cannot_be_loaded_prevents_the_start(install: Install, group: str) -> None:
    install("broken", {f"stoker.{group}": "broken:OBJECTS"}, "import no_such_module\n")
    with pytest.raises(PluginInvalid, match=rf"broken \(stoker\.{group}"):
        Registry.from_entry_points()
