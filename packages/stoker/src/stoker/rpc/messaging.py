"""The transport of a cluster: oslo.messaging, usually over RabbitMQ.

API processes call any engine that is free; engines offer work to each other, alert each other, and forward requests to
the engine that runs a stack. oslo.messaging uses threads, the engine an event loop: only this module connects the two.

Requests are sent as JSON in the arguments of few methods, so that a release can add operations, arguments and kinds of
errors without changes to the transport. A lost message only causes a delay: all work that must be done is recorded in
the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import oslo_messaging
from amqp import AMQPError
from oslo_config import cfg
from oslo_messaging import opts

from stoker import __version__
from stoker.base.context import RequestContext
from stoker.contract.request import Answer, Request
from stoker.engine.ownership.peers import PeerUnavailable
from stoker.rpc.calling import BoundedCalls, BrokerUnavailable, broker_addresses
from stoker.rpc.contract import (
    EngineService,
    EngineUnavailable,
    Reply,
    StoppableService,
    answer_of,
    packed,
    reply_of,
    unpacked,
)
from stoker.rpc.private_parts import refuse_more, registered_option

LOG = logging.getLogger(__name__)

VERSION = "1.0"
_SECTION = "oslo_messaging_rabbit"
NOTIFICATIONS = "oslo_messaging_notifications"
_GLOBAL = ("oslo_messaging_metrics", "oslo_messaging_tracing")
LIBRARY_GROUPS = frozenset({_SECTION, NOTIFICATIONS, *_GLOBAL})
"""Sections that oslo.messaging reads itself."""

_RELEASE = "stoker_release"
"""The key of the message's context with the release of the sender; releases before 0.2 send none."""

_TIMEOUT = "stoker_seconds"
"""The key of the message's context with how long the sender waits for the reply, in seconds."""

_CONNECT_TRIES = 4
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 10.0
"""Seconds until a broker that has refused the connection is asked again; doubled each time."""
_MOST_WAITING = 1000
_AT_A_TIME = 8

_RETURN_UNROUTABLE = oslo_messaging.TransportOptions(at_least_once=True)

_CLOSING_SECONDS = 5.0
_PROBLEMS = (
    oslo_messaging.MessagingTimeout,
    oslo_messaging.MessageDeliveryFailure,
    oslo_messaging.MessageUndeliverable,
    AMQPError,
    BrokerUnavailable,
    OSError,
)


def register_options(config: cfg.ConfigOpts) -> None:
    """Register oslo.messaging's options on `config`, with quorum queues by default.

    A quorum queue survives the loss of one broker of three, and RabbitMQ 4 has no other replicated kind of queue.
    """
    for group, options in opts.list_opts():
        if group in (None, _SECTION, NOTIFICATIONS):
            config.register_opts(options, group=group)
    for (
        group
    ) in _GLOBAL:  # the library declares these on oslo.config's global object only, but reads them from `config`
        for name in cfg.CONF[group] if group in cfg.CONF else ():  # noqa: SIM401  its `get` raises
            config.register_opt(registered_option(name, group), group=group)
    config.set_default("control_exchange", "stoker")
    config.set_default("rabbit_quorum_queue", True, group=_SECTION)


def engine_topic(transport: Any) -> str:
    """Return the queue of calls that any engine may serve.

    RabbitMQ scopes queue names to a virtual host, not to an exchange: with `control_exchange` in the name, two
    installations with different values can share a broker without receiving each other's calls.
    """
    return f"{transport.conf.control_exchange}-engine"


def open_transport(config: cfg.ConfigOpts) -> Any:
    """Create the transport for `transport_url`, without connecting yet. Raises cfg.Error for an invalid URL."""
    register_options(config)
    with checked_url("[DEFAULT] transport_url"):
        transport = oslo_messaging.get_rpc_transport(config)
    found = config.get_location("transport_url")
    if found is not None and found.location.is_user_controlled:
        LOG.info("The message broker is at %s ([DEFAULT] transport_url)", broker_of(config))
    else:
        LOG.warning("[DEFAULT] transport_url is not set; using the message broker at %s", broker_of(config))
    return transport


@contextlib.contextmanager
def checked_url(option: str) -> Iterator[None]:
    """Convert errors about a broker's URL to cfg.Error. The message omits the URL, which may contain a password."""
    try:
        yield
    except oslo_messaging.DriverLoadFailure as error:
        problem = f"oslo.messaging has no driver {error.driver!r}"
    except oslo_messaging.InvalidTransportURL:
        problem = "this is not a URL"
    except ValueError:
        problem = "its hosts and ports cannot be parsed"
    else:
        return
    raise cfg.Error(f"{option}: {problem}; it has the form rabbit://USER:PASSWORD@HOST:PORT/VIRTUAL_HOST")


def broker_of(config: cfg.ConfigOpts) -> str:
    """Return the hosts and ports of the brokers, without passwords."""
    return ", ".join(f"{host}:{port}" for host, port in broker_addresses(config))


class MessagingClient:
    """An `EngineClient` that calls any engine of the cluster. It is thread-safe.

    The broker returns a call for which no queue exists, as before the first engine of a new cluster has started: the
    caller gets an error at once instead of waiting for an engine that never saw the call.
    """

    def __init__(self, transport: Any) -> None:
        target = oslo_messaging.Target(topic=engine_topic(transport), version=VERSION)
        self._client = oslo_messaging.get_rpc_client(
            transport, target, retry=_CONNECT_TRIES, transport_options=_RETURN_UNROUTABLE
        )
        self._calls = BoundedCalls(transport.conf)
        self._broker = broker_of(transport.conf)
        self._timeout = float(transport.conf.rpc_response_timeout)

    def call(self, context: RequestContext, request: Request[Answer], timeout: float | None = None) -> Answer:
        """See `EngineClient.call`; the default of `timeout` is `rpc_response_timeout`.

        The time is bounded while the broker is unavailable, too.
        """
        seconds = self._timeout if timeout is None else timeout
        call = _prepared(context, request, seconds)
        prepared = self._client.prepare(timeout=seconds)
        try:
            return answer_of(request, self._calls.run(partial(call, prepared), seconds))
        except oslo_messaging.MessagingTimeout:
            raise EngineUnavailable(f"No engine answered {request.method} in time.") from None
        except oslo_messaging.MessageUndeliverable:
            raise EngineUnavailable("No engine receives calls yet; start one (stoker engine), or try again.") from None
        except _PROBLEMS as error:
            LOG.warning("The message broker at %s (transport_url) cannot be used: %s", self._broker, error)
            raise EngineUnavailable("The message broker cannot be reached; try again later.") from None


def _prepared(context: RequestContext, request: Request[object], seconds: float) -> Callable[[object], Reply]:
    """Serialize a request, and return the function that sends it and waits for the reply, for up to `seconds`."""
    method, arguments = request.method, packed(f"the arguments of {request.method}", request.arguments())

    def call(client: Any) -> Reply:
        sender = {_RELEASE: __version__, _TIMEOUT: seconds}
        reply: Reply = client.call(sender, "call", caller=context.to_dict(), request=method, arguments=arguments)
        return reply

    return call


class PeerListener(Protocol):
    """An engine's handlers of its peers' messages; called on its event loop."""

    async def offered(self, operation_id: str) -> None:
        """An operation is waiting for an owner."""

    async def alerted(self) -> None:
        """The state of an operation that runs here was changed by another engine; check it."""

    async def ended(self, operation_id: str) -> None:
        """An operation has ended on some engine."""


class _Endpoint:
    """The methods that oslo.messaging calls, on its threads."""

    target = oslo_messaging.Target(version=VERSION)

    def __init__(self, loop: asyncio.AbstractEventLoop, service: EngineService, listener: PeerListener) -> None:
        self._loop = loop
        self._service = service
        self._listener = listener

    def call(self, context: Any, caller: dict[str, object], request: str, arguments: str) -> Reply:
        sender, seconds = str(context.get(_RELEASE, "")), context.get(_TIMEOUT)
        work = reply_of(self._service, RequestContext.from_dict(caller), request, unpacked(arguments), sender, seconds)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def offer(self, _context: object, operation: str) -> None:
        asyncio.run_coroutine_threadsafe(self._listener.offered(operation), self._loop).result()

    def alert(self, _context: object) -> None:
        asyncio.run_coroutine_threadsafe(self._listener.alerted(), self._loop).result()

    def finished(self, _context: object, operation: str) -> None:
        asyncio.run_coroutine_threadsafe(self._listener.ended(operation), self._loop).result()


async def ends_within(work: Callable[[], object], seconds: float) -> bool:
    """Run blocking work, which may wait for the broker indefinitely, on a thread that does not delay process exit.

    Returns whether the work has ended within `seconds`.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        try:
            work()
        except Exception as error:
            LOG.info("The connection to the message broker was not closed properly: %s", error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: there is no waiter
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=run, name="rpc-end", daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
    except TimeoutError:
        return False
    return True


async def close_transport(transport: Any) -> None:
    """Close the connections to the broker."""
    await ends_within(transport.cleanup, _CLOSING_SECONDS)


class MessagingServer:
    """Serves calls for one engine.

    `start` returns at once. A broker that is unreachable, or that refuses the login, is retried in the background.
    """

    def __init__(
        self,
        transport: Any,
        engine_id: str,
        loop: asyncio.AbstractEventLoop,
        service: StoppableService,
        listener: PeerListener,
    ) -> None:
        target = oslo_messaging.Target(topic=engine_topic(transport), server=engine_id, version=VERSION)
        self._new_server = partial(
            oslo_messaging.get_rpc_server,
            transport,
            target,
            [_Endpoint(loop, service, listener)],
            executor="threading",
            access_policy=oslo_messaging.DefaultRPCAccessPolicy,
        )
        self._server = self._new_server()
        self._myself = oslo_messaging.get_rpc_client(transport, target, retry=0)
        self._service = service
        self._broker = broker_of(transport.conf)
        self._stopped = threading.Event()
        self._starting = threading.Thread(target=self._start, name="rpc-start", daemon=True)
        self.serving = False

    def start(self) -> None:
        """Start to serve calls as soon as the broker can be reached."""
        self._starting.start()

    def _start(self) -> None:
        pause = _FIRST_PAUSE
        try:
            while not self._started(pause) and not self._stopped.wait(pause):
                self._server = self._new_server()
                pause = min(2 * pause, _LONGEST_PAUSE)
        except Exception:
            LOG.exception("The RPC server cannot be started")

    def _started(self, pause: float) -> bool:
        """Try to start the server; return whether it has. `pause` are the seconds until the next attempt."""
        try:
            self._server.start()
        except AMQPError as error:
            LOG.error(
                "The message broker at %s refuses the connection ([DEFAULT] transport_url); retrying in %d seconds: %s",
                self._broker, pause, error,
            )  # fmt: skip
            return False
        LOG.info("Receiving calls through the message broker at %s", self._broker)
        self.serving = True
        return True

    async def stop(self, seconds: float = 10.0) -> None:
        """Accept no more calls, and wait `seconds` for those in progress; then the others are answered with an error.

        The event loop must keep running meanwhile.
        """
        self._stopped.set()
        if not self.serving:
            return
        refuse_more(self._server.listener)
        stopped = await asyncio.gather(
            ends_within(self._server.stop, _CLOSING_SECONDS), ends_within(self._wake, _CLOSING_SECONDS)
        )
        if not all(stopped):
            LOG.warning("The message broker at %s cannot be notified that this engine stops", self._broker)
        else:
            await self._service.stop(seconds)
            if not await ends_within(self._server.wait, _CLOSING_SECONDS):
                LOG.warning("The replies to the last calls may not have been sent")

    def _wake(self) -> None:
        """Send a message to this engine, which ends the server's wait for the next message at once."""
        with contextlib.suppress(*_PROBLEMS):
            self._myself.cast({}, "alert")


class MessagingPeers:
    """The other engines (`stoker.engine.ownership.peers.Peers`). One-way messages are sent on separate threads."""

    def __init__(self, transport: Any) -> None:
        target = oslo_messaging.Target(topic=engine_topic(transport), version=VERSION)
        self._client = oslo_messaging.get_rpc_client(transport, target, retry=_CONNECT_TRIES)
        self._caster = oslo_messaging.get_rpc_client(transport, target, retry=1)
        self._calls = BoundedCalls(transport.conf)
        self._senders = ThreadPoolExecutor(2, thread_name_prefix="rpc-cast")
        self._askers = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="rpc-ask")
        self._waiting = threading.Semaphore(_MOST_WAITING)

    def offer(self, operation_id: str, engine_id: str | None = None) -> None:
        """See `Peers.offer`."""
        caster = self._caster if engine_id is None else self._caster.prepare(server=engine_id)
        self._send(lambda: caster.cast({}, "offer", operation=operation_id))

    def alert(self, engine_id: str) -> None:
        """See `Peers.alert`."""
        self._send(lambda: self._caster.prepare(server=engine_id).cast({}, "alert"))

    def finished(self, operation_id: str, engine_id: str) -> None:
        """See `Peers.finished`."""
        self._send(lambda: self._caster.prepare(server=engine_id).cast({}, "finished", operation=operation_id))

    async def forward(
        self, engine_id: str, context: RequestContext, request: Request[Answer], seconds: float
    ) -> Answer:
        """See `Peers.forward`."""
        prepared = self._client.prepare(server=engine_id, timeout=seconds)
        call = partial(self._calls.run, partial(_prepared(context, request, seconds), prepared), seconds)
        try:
            reply = await asyncio.get_running_loop().run_in_executor(self._askers, call)
        except _PROBLEMS as error:
            raise PeerUnavailable(f"The engine {engine_id} did not answer: {error}.") from error
        return answer_of(request, reply)

    async def close(self) -> None:
        """Send the waiting messages if the broker can be reached, and stop."""
        pools = (self._senders, self._askers)
        ended = await asyncio.gather(*(ends_within(threads.shutdown, _CLOSING_SECONDS) for threads in pools))
        for threads, idle in zip(pools, ended, strict=True):
            if not idle:
                threads.shutdown(wait=False, cancel_futures=True)

    def _send(self, cast: Callable[[], None]) -> None:
        """Send a message soon. When too many wait, messages are dropped: engines find the same in the database."""
        if self._waiting.acquire(blocking=False):
            self._senders.submit(self._sent, cast)

    def _sent(self, cast: Callable[[], None]) -> None:
        try:
            cast()
        except Exception as error:
            LOG.info("A message to other engines was not sent; they will find the change in the database: %s", error)
        finally:
            self._waiting.release()
