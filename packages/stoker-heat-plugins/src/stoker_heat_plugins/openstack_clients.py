"""Clients of OpenStack's services: the classes of the python-*client packages, with the stack owner's session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ClassVar

from heat.common import exception
from heat.engine.clients.client_plugin import ClientPlugin
from stoker.base.errors import CloudError
from stoker.cloud.errors import Ambiguous, NotNamed

Make = Callable[[Any, Mapping[str, Any]], Any]


def _versioned(version: str) -> Make:
    return lambda module, options: module.Client(version, **options)


def _plain(module: Any, options: Mapping[str, Any]) -> object:
    return module.Client(**options)


def _connection(module: Any, options: Mapping[str, Any]) -> object:
    return module.Connection(session=options["session"], region_name=options["region_name"])


def _swift(module: Any, options: Mapping[str, Any]) -> object:
    return module.Connection(session=options["session"], os_options={"region_name": options["region_name"]})


def _keystone(module: Any, options: Mapping[str, Any]) -> object:
    return module.Client(session=options["session"], region_name=options["region_name"])


def _session_only(version: str) -> Make:
    return lambda module, options: module.Client(version, session=options["session"])


BUILTIN: Mapping[str, tuple[str, str, Make]] = {
    "aodh": ("aodhclient", "aodhclient.client", _session_only("2")),
    "barbican": ("python-barbicanclient", "barbicanclient.client", _plain),
    "cinder": ("python-cinderclient", "cinderclient.client", _versioned("3")),
    "designate": ("python-designateclient", "designateclient.client", _session_only("2")),
    "glance": ("python-glanceclient", "glanceclient", _session_only("2")),
    "heat": ("python-heatclient", "heatclient.client", _session_only("1")),
    "keystone": ("python-keystoneclient", "keystoneclient.v3.client", _keystone),
    "magnum": ("python-magnumclient", "magnumclient.client", _session_only("1")),
    "neutron": ("python-neutronclient", "neutronclient.v2_0.client", _plain),
    "nova": ("python-novaclient", "novaclient.client", _versioned("2")),
    "openstack": ("openstacksdk", "openstack.connection", _connection),
    "swift": ("python-swiftclient", "swiftclient", _swift),
}
"""The package to install, the module, and how to make the client, by the name of the service."""

_GETTERS = {
    "cinder": {"get_volume_type": "cinder.volume_type", "get_volume": "cinder.volume"},
    "glance": {"find_image_by_name_or_id": "glance.image", "get_image_id": "glance.image"},
    "keystone": {
        "get_domain_id": "keystone.domain",
        "get_group_id": "keystone.group",
        "get_project_id": "keystone.project",
        "get_region_id": "keystone.region",
        "get_role_id": "keystone.role",
        "get_service_id": "keystone.service",
        "get_user_id": "keystone.user",
    },
    "nova": {"find_flavor_by_name_or_id": "nova.flavor", "get_flavor_id": "nova.flavor"},
}
"""The methods of client plug-ins that resolve a name to an ID, with Stoker's finder for each."""


class OpenStackClientPlugin(ClientPlugin):
    """The client of one of OpenStack's services; derived classes name the `service`."""

    service: ClassVar[str]

    def _create(self, version: Any = None) -> object:
        package, module, make = BUILTIN[self.service]
        try:
            found = import_module(module)
        except ImportError as error:
            raise exception.ResourceNotAvailable(
                resource_name=f"the client of {self.service}: install the package {package} ({error})"
            ) from error
        context = self.context
        options = {"session": context.keystone_session, "region_name": context.region_name}
        return make(found, options)

    def _found(self, finder: str, value: str) -> str:
        """Return an ID, as one of Stoker's finders finds it."""
        kind = finder.partition(".")[2]
        try:
            return str(self.context.find(finder, value))
        except NotNamed as error:
            raise exception.EntityNotFound(entity=kind, name=value) from error
        except Ambiguous as error:
            raise exception.PhysicalResourceNameAmbiguity(name=value) from error

    def has_extension(self, alias: str) -> bool:
        """Return whether the service has loaded an API extension."""
        return bool(self.context.has_extension(self.service, alias))

    def is_not_found(self, ex: BaseException) -> bool:
        """Return whether the exception means that the object does not exist."""
        if isinstance(ex, CloudError):
            return ex.not_found
        return isinstance(ex, exception.NotFound) or super().is_not_found(ex)

    def __getattr__(self, name: str) -> object:
        finder = _GETTERS.get(self.service, {}).get(name)
        if finder is None:
            raise AttributeError(f"the client plug-in {self.service!r} has no {name!r}")
        return lambda value, *_other: None if value is None else self._found(finder, value)
