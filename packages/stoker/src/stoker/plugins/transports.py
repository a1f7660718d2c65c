"""The contracts of transports: how a server gets its configuration, and how signals arrive.

Packages offer them by entry points in the groups `stoker.configuration_transports` and `stoker.signal_transports`:
mappings from the names that templates use to objects. An object is shared by all stacks and must be stateless; what it
has to remember of a resource it keeps in `Call.data`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from stoker.base.errors import NotSupported
from stoker.base.extensions import remembered, table
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

TransportType = TypeVar("TransportType", bound="Transport")


class Transport:
    """What both kinds have in common.

    A transport that stores something in another service until it is read there records where in `Call.data`, under the
    key `place`; None for one that stores nothing. `secrets` are keys of `Call.data` that are redacted wherever data are
    shown.
    """

    place: ClassVar[str | None] = None
    secrets: ClassVar[frozenset[str]] = frozenset()

    async def remove(self, call: Call) -> None:
        """Delete what is stored at the recorded place, if it still exists, and remove the place from `call.data`."""
        raise NotImplementedError


class ConfigurationTransport(Transport, ABC):
    """A way for the agent of a server to get the server's metadata, with its software deployments.

    `collector` is the agent's name of the way, and of the section of its configuration.
    """

    collector: ClassVar[str]

    @abstractmethod
    async def prepare(self, call: Call) -> Outcome:
        """Create what the agent needs, as a step: it is called until it returns Done, and possibly again later."""

    @abstractmethod
    async def configuration(self, call: Call) -> Mapping[str, Any]:
        """Return the collector's section of the agent's configuration."""

    async def send(
        self, cloud: Cloud, data: Mapping[str, object], project_id: str, metadata: Mapping[str, object]
    ) -> None:
        """Replace the metadata at the recorded place. Called for transports with a place, whenever metadata change.

        `data` is that of the resource, `project_id` the project of the stack's users. Raises CloudError.
        """
        raise NotImplementedError

    def moved(self, call: Call) -> bool:
        """Return whether the properties state another place than the recorded one."""
        return False


class SignalTransport(Transport):
    """A way for a server, or any program, to signal a resource.

    `deployments` and `handles` state whether software deployments and wait condition handles may use it. One with
    `expected` false never signals: nothing waits for it. With `as_user`, the place belongs to the resource's own user.
    With `credentials`, `sender` returns those of that user: `call.data` has the ID of its domain then.
    """

    deployments: ClassVar[bool] = True
    handles: ClassVar[bool] = True
    expected: ClassVar[bool] = True
    as_user: ClassVar[bool] = False
    credentials: ClassVar[bool] = False

    async def choose(self, call: Call) -> bool:
        """Record where signals will be stored, before anything is created; return False when it is recorded already."""
        return False

    async def prepare_deployment(self, call: Call) -> Outcome:
        """Create what the signal of a software deployment needs, as a step. Signals of earlier actions are removed."""
        return Done()

    async def deployment_inputs(self, call: Call) -> Mapping[str, object]:
        """Return the inputs that tell the server how to signal its result: names without the prefix `deploy_`."""
        return {}

    async def signal_of_deployment(self, call: Call) -> Mapping[str, object] | None:
        """Return the signal that is stored for a software deployment; None if there is none yet.

        Called for transports with a place. Raises BadValue if it is not a map.
        """
        raise NotImplementedError

    async def prepare_handle(self, call: Call) -> Outcome:
        """Create what the signals of a wait condition handle need, as a step."""
        return Done()

    def sender(self, call: Call) -> Mapping[str, object] | None:
        """Return what the sender of a signal to a handle needs; None while the handle is still being created."""
        return {}

    async def signals_of_handle(self, call: Call) -> Mapping[str, Mapping[str, object] | None]:
        """Return the signals that are stored for a handle, by stable IDs, oldest first; they are not removed.

        Those in `call.data[COLLECTED]` may be omitted. Called for transports with a place. Raises BadValue.
        """
        raise NotImplementedError


@remembered
def configuration_transports() -> Mapping[str, ConfigurationTransport]:
    """Return the transports that the installed packages offer, by name. Raises PluginInvalid."""
    return table("stoker.configuration_transports", ConfigurationTransport)  # type: ignore[type-abstract]


@remembered
def signal_transports() -> Mapping[str, SignalTransport]:
    """Return the transports that the installed packages offer, by name. Raises PluginInvalid."""
    return table("stoker.signal_transports", SignalTransport)


def configuration_transport(name: str) -> ConfigurationTransport:
    """Return a transport by its name. Raises NotSupported when its package is no longer installed."""
    return _known(configuration_transports(), name)


def signal_transport(name: str) -> SignalTransport:
    """Return a transport by its name. Raises NotSupported when its package is no longer installed."""
    return _known(signal_transports(), name)


def _known(transports: Mapping[str, TransportType], name: str) -> TransportType:
    found = transports.get(name)
    if found is None:
        raise NotSupported(
            f"the transport {name!r} is not available: the package that offers it is not installed; the transports are "
            f"{', '.join(transports)}"
        )
    return found


def deployment_transports() -> tuple[str, ...]:
    """Return the names of the transports for the signals of software deployments."""
    return tuple(name for name, transport in signal_transports().items() if transport.deployments)


def handle_transports() -> tuple[str, ...]:
    """Return the names of the transports for the signals of wait condition handles."""
    return tuple(name for name, transport in signal_transports().items() if transport.handles)


def used(transports: Mapping[str, TransportType], data: Mapping[str, object]) -> list[TransportType]:
    """Return the transports that have stored something for a resource with these data."""
    return [transport for transport in transports.values() if transport.place in data]


async def remove_signals(call: Call) -> None:
    """Delete what signal transports have stored for a resource."""
    for transport in used(signal_transports(), call.data):
        await transport.remove(call)


def secrets_of(transports: Mapping[str, Transport]) -> frozenset[str]:
    """Return the keys of `Call.data` with the transports' secrets."""
    return frozenset().union(*(transport.secrets for transport in transports.values()))
