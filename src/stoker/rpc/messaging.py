"""The transport of a cluster: oslo.messaging, as a rule over RabbitMQ.

API processes call whichever engine is free; engines offer each other work, alert each other, and pass requests on to
the one that runs a stack. oslo.messaging has threads, the engine an event loop: the two meet in this module only.

Requests travel as JSON in the arguments of few methods, so that a release may add operations, arguments and kinds of
error without changing what the transport knows. A message that is lost delays: whatever must happen is in the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import oslo_messaging
from amqp import AMQPError
from oslo_config import cfg
from oslo_messaging import opts

from stoker.base.context import RequestContext
from stoker.engine.ownership.peers import PeerAway
from stoker.rpc.contract import EngineUnavailable
from stoker.rpc.envelope import Reply, Service, opened, packed, reply_of, unpacked
from stoker.rpc.private_parts import refuse_more, registered_option

LOG = logging.getLogger(__name__)

VERSION = "1.0"
_SECTION = "oslo_messaging_rabbit"
NOTIFICATIONS = "oslo_messaging_notifications"
_GLOBAL = ("oslo_messaging_metrics", "oslo_messaging_tracing")
LIBRARY_GROUPS = frozenset({_SECTION, NOTIFICATIONS, *_GLOBAL})
"""Sections that oslo.messaging reads for itself."""

_PORT = 5672
_CONNECT_TRIES = 4
_ASKED_AGAIN_AFTER = 10.0
_MOST_WAITING = 1000
_AT_A_TIME = 8

_CLOSING_SECONDS = 5.0
_PROBLEMS = (
    oslo_messaging.MessagingTimeout,
    oslo_messaging.MessageDeliveryFailure,
    oslo_messaging.MessageUndeliverable,
    AMQPError,
    OSError,
)


def register_options(config: cfg.ConfigOpts) -> None:
    """Make `config` know oslo.messaging's options, with quorum queues unless the operator says otherwise.

    A quorum queue survives the loss of one broker of three, and RabbitMQ 4 has no other kind that is replicated.
    """
    for group, options in opts.list_opts():
        if group in (None, _SECTION, NOTIFICATIONS):
            config.register_opts(options, group=group)
    for group in _GLOBAL:  # these the library declares on oslo.config's global object only, and reads from ours
        for name in cfg.CONF[group] if group in cfg.CONF else ():  # noqa: SIM401  its `get` raises
            config.register_opt(registered_option(name, group), group=group)
    config.set_default("control_exchange", "stoker")
    config.set_default("rabbit_quorum_queue", True, group=_SECTION)


def engine_topic(transport: Any) -> str:
    """The queue of calls that any engine may take.

    RabbitMQ names queues within a virtual host, and not within an exchange: with `control_exchange` in the name, two
    installations that differ in it share a broker and take no calls of each other.
    """
    return f"{transport.conf.control_exchange}-engine"


def open_transport(config: cfg.ConfigOpts) -> Any:
    """The way to the broker that `transport_url` names; nothing is connected yet. Raises cfg.Error for a wrong URL."""
    register_options(config)
    with checked_url("[DEFAULT] transport_url"):
        transport = oslo_messaging.get_rpc_transport(config)
    found = config.get_location("transport_url")
    if found is not None and found.location.is_user_controlled:
        LOG.info("The message broker is at %s ([DEFAULT] transport_url)", broker_of(config))
    else:
        LOG.warning("[DEFAULT] transport_url is not set: the message broker is taken to be at %s", broker_of(config))
    return transport


@contextlib.contextmanager
def checked_url(option: str) -> Iterator[None]:
    """Have a URL that cannot be used be told of as a cfg.Error, which does not show it: a password is a part of it."""
    try:
        yield
    except oslo_messaging.DriverLoadFailure as error:
        problem = f"oslo.messaging knows no kind of broker by the name of {error.driver}"
    except oslo_messaging.InvalidTransportURL:
        problem = "this is no URL"
    except ValueError:
        problem = "its hosts and ports cannot be told apart"
    else:
        return
    raise cfg.Error(f"{option}: {problem}; it has the form rabbit://USER:PASSWORD@HOST:PORT/VIRTUAL_HOST")


def broker_of(config: cfg.ConfigOpts) -> str:
    """Host and port of the broker, or of each, without the password."""
    hosts = oslo_messaging.TransportURL.parse(config).hosts
    return ", ".join(f"{host.hostname}:{host.port or _PORT}" for host in hosts) or f"localhost:{_PORT}"


class MessagingClient:
    """An `EngineClient` that reaches any engine of the cluster. Threads may share it."""

    def __init__(self, transport: Any) -> None:
        target = oslo_messaging.Target(topic=engine_topic(transport), version=VERSION)
        self._client = oslo_messaging.get_rpc_client(transport, target, retry=_CONNECT_TRIES)
        self._broker = broker_of(transport.conf)
        self._patience = float(transport.conf.rpc_response_timeout)

    def call(
        self, context: RequestContext, method: str, arguments: Mapping[str, Any], timeout: float | None = None
    ) -> Any:
        """As `EngineClient.call`; without `timeout`, `rpc_response_timeout` is how long an answer is waited for.

        A call that is given up on may still be carried out.
        """
        sent = packed(f"the arguments of {method}", arguments)
        seconds = self._patience if timeout is None else timeout
        return opened(self._exchange(self._client.prepare(timeout=seconds), context, method, sent))

    def _exchange(self, prepared: Any, context: RequestContext, method: str, sent: str) -> Reply:
        try:
            reply: Reply = prepared.call({}, "call", caller=context.to_dict(), request=method, arguments=sent)
            return reply
        except oslo_messaging.MessagingTimeout:
            raise EngineUnavailable(f"No engine answered {method} in time.") from None
        except _PROBLEMS as error:
            LOG.warning("The message broker at %s (transport_url) cannot be used: %s", self._broker, error)
            raise EngineUnavailable("The message broker cannot be reached; try again later.") from None


class Told(Protocol):
    """What an engine does with what peers tell it; called on its event loop."""

    async def offered(self, operation_id: str) -> None:
        """An operation waits for an owner."""

    async def alerted(self) -> None:
        """Others have decided something about what runs here."""

    async def ended(self, operation_id: str) -> None:
        """An operation has ended somewhere."""


class _Endpoint:
    """What oslo.messaging calls, on its threads."""

    target = oslo_messaging.Target(version=VERSION)

    def __init__(self, loop: asyncio.AbstractEventLoop, service: Service, told: Told) -> None:
        self._loop = loop
        self._service = service
        self._told = told

    def call(self, _context: Any, caller: dict[str, Any], request: str, arguments: str) -> Reply:
        work = reply_of(self._service, RequestContext.from_dict(caller), request, unpacked(arguments))
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def offer(self, _context: Any, operation: str) -> None:
        asyncio.run_coroutine_threadsafe(self._told.offered(operation), self._loop).result()

    def alert(self, _context: Any) -> None:
        asyncio.run_coroutine_threadsafe(self._told.alerted(), self._loop).result()

    def finished(self, _context: Any, operation: str) -> None:
        asyncio.run_coroutine_threadsafe(self._told.ended(operation), self._loop).result()


async def in_time(work: Callable[[], object], seconds: float) -> bool:
    """Do what waits for a broker that is away, for ever if need be, on a thread that keeps no process from its end.

    Tells whether the work has ended after so many seconds.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        try:
            work()
        except Exception as error:
            LOG.info("The message broker was not told of the end: %s", error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=run, name="rpc-end", daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
    except TimeoutError:
        return False
    return True


async def close_transport(transport: Any) -> None:
    """Give the connections to the broker back."""
    await in_time(transport.cleanup, _CLOSING_SECONDS)


class MessagingServer:
    """Takes calls for one engine.

    `start` returns at once. A broker that is away, or that does not know the user yet, is waited for in the background.
    """

    def __init__(
        self, transport: Any, engine_id: str, loop: asyncio.AbstractEventLoop, service: Service, told: Told
    ) -> None:
        target = oslo_messaging.Target(topic=engine_topic(transport), server=engine_id, version=VERSION)
        self._new_server = partial(
            oslo_messaging.get_rpc_server,
            transport,
            target,
            [_Endpoint(loop, service, told)],
            executor="threading",
            access_policy=oslo_messaging.DefaultRPCAccessPolicy,
        )
        self._server = self._new_server()
        self._myself = oslo_messaging.get_rpc_client(transport, target, retry=0)
        self._broker = broker_of(transport.conf)
        self._stopped = threading.Event()
        self._starting = threading.Thread(target=self._start, name="rpc-start", daemon=True)
        self.serving = False

    def start(self) -> None:
        """Begin to take calls, as soon as the broker can be reached."""
        self._starting.start()

    def _start(self) -> None:
        try:
            while not self._started() and not self._stopped.wait(_ASKED_AGAIN_AFTER):
                self._server = self._new_server()
        except Exception:
            LOG.exception("The RPC server cannot be started")

    def _started(self) -> bool:
        try:
            self._server.start()
        except AMQPError as error:
            LOG.error(
                "The message broker at %s refuses [DEFAULT] transport_url, and is asked again in %d seconds: %s",
                self._broker, _ASKED_AGAIN_AFTER, error,
            )  # fmt: skip
            return False
        LOG.info("Calls come by the message broker at %s", self._broker)
        self.serving = True
        return True

    async def stop(self, seconds: float = 10.0) -> None:
        """Take no more calls, and let those that are being carried out end. The loop has to go on meanwhile."""
        self._stopped.set()
        if not self.serving:
            return
        refuse_more(self._server.listener)
        stopped = await asyncio.gather(
            in_time(self._server.stop, _CLOSING_SECONDS), in_time(self._wake, _CLOSING_SECONDS)
        )
        if not all(stopped):
            LOG.warning("The message broker at %s is not there to be told that this engine stops", self._broker)
        elif not await in_time(self._server.wait, seconds):
            LOG.warning("Calls that take longer are cut off")

    def _wake(self) -> None:
        """End the wait for the next message, which takes seconds where there is none, with a message."""
        with contextlib.suppress(*_PROBLEMS):
            self._myself.cast({}, "alert")


class MessagingPeers:
    """The other engines (`stoker.engine.ownership.peers.Peers`). What is only told goes out on threads of its own."""

    def __init__(self, transport: Any) -> None:
        target = oslo_messaging.Target(topic=engine_topic(transport), version=VERSION)
        self._client = oslo_messaging.get_rpc_client(transport, target, retry=_CONNECT_TRIES)
        self._telling = oslo_messaging.get_rpc_client(transport, target, retry=1)
        self._senders = ThreadPoolExecutor(2, thread_name_prefix="rpc-tell")
        self._askers = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="rpc-ask")
        self._waiting = threading.Semaphore(_MOST_WAITING)

    def offer(self, operation_id: str) -> None:
        """As `Peers.offer`."""
        self._send(lambda: self._telling.cast({}, "offer", operation=operation_id))

    def alert(self, engine_id: str) -> None:
        """As `Peers.alert`."""
        self._send(lambda: self._telling.prepare(server=engine_id).cast({}, "alert"))

    def finished(self, operation_id: str) -> None:
        """As `Peers.finished`."""
        self._send(lambda: self._telling.prepare(fanout=True).cast({}, "finished", operation=operation_id))

    async def ask(
        self, engine_id: str, context: RequestContext, method: str, arguments: Mapping[str, Any], seconds: float
    ) -> Any:
        """As `Peers.ask`."""
        prepared = self._client.prepare(server=engine_id, timeout=seconds)
        sent = packed(f"the arguments of {method}", arguments)

        def call() -> Reply:
            reply: Reply = prepared.call({}, "call", caller=context.to_dict(), request=method, arguments=sent)
            return reply

        try:
            reply = await asyncio.get_running_loop().run_in_executor(self._askers, call)
        except _PROBLEMS as error:
            raise PeerAway(f"The engine {engine_id} did not answer: {error}.") from error
        return opened(reply)

    async def close(self) -> None:
        """Send what waits, as far as the broker is there, and no more."""
        for threads in (self._senders, self._askers):
            if not await in_time(threads.shutdown, _CLOSING_SECONDS):
                threads.shutdown(wait=False, cancel_futures=True)

    def _send(self, cast: Callable[[], None]) -> None:
        """Send soon. Beyond a number that wait, as when the broker is away, messages are dropped: rows tell as well."""
        if self._waiting.acquire(blocking=False):
            self._senders.submit(self._sent, cast)

    def _sent(self, cast: Callable[[], None]) -> None:
        try:
            cast()
        except Exception as error:
            LOG.info("A message to other engines was not sent, they will find out by themselves: %s", error)
        finally:
            self._waiting.release()
