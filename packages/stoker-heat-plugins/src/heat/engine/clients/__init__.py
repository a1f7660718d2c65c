"""The clients of one stack: client plug-ins by name, each made when it is needed first."""

from __future__ import annotations

from typing import Any

from heat.engine.clients import client_plugin
from stoker_heat_plugins.client_plugins import client_plugin_class, has_client

__all__ = ["ClientPlugin", "Clients", "client_plugin", "has_client"]

ClientPlugin = client_plugin.ClientPlugin


class Clients:
    """Clients with the credential of the stack's owner."""

    def __init__(self, context: object) -> None:
        self.context = context
        self._plugins: dict[str, client_plugin.ClientPlugin] = {}

    def client_plugin(self, name: str) -> client_plugin.ClientPlugin:
        """Return the client plug-in with this name. Raises LookupError if no package offers it."""
        if name not in self._plugins:
            self._plugins[name] = client_plugin_class(name)(self.context)
        return self._plugins[name]

    def client(self, name: str, version: Any = None) -> Any:
        """Return the client with this name."""
        return self.client_plugin(name).client(version=version)
