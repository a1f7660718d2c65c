"""A cloud, the services it is made of, and the records each service keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, ParamSpec, TypeVar
from uuid import uuid4

from openstack_emulator.core.errors import ApiError, keystone_body, not_found
from openstack_emulator.core.faults import Faults
from openstack_emulator.core.guests.driver import GuestDriver, NoGuests
from openstack_emulator.core.http import BodyMessages, Context, Request, Response, Version
from openstack_emulator.core.journal import Journal
from openstack_emulator.core.outgoing import PermittedAddresses, RequestSender
from openstack_emulator.core.routing import Router
from openstack_emulator.core.store import Data, Store, T, Table
from openstack_emulator.core.transitions import Transitions
from openstack_emulator.core.typed import TypedRecord
from stoker_foundation.clock import Clock, SystemClock

WELL_KNOWN_PASSWORD = "secret"  # noqa: S105  the documented password of a throw-away cloud, as DevStack's
P = ParamSpec("P")
R = TypeVar("R", bound="Records")
Handler = Callable[[Any, Request], Response]
Routes = Mapping[str, Mapping[str, Handler]]


@dataclass(slots=True, kw_only=True, eq=False)
class SeededService(TypedRecord):
    """A service that was seeded; its `id` is the name of the service."""


class Records:
    """What a service keeps and the rules that hold for it; subclass, make tables in `__init__`.

    Methods raise `ApiError` before they change anything: there is no rollback. They call other services' records
    through `self.cloud.of(OtherRecords)`. The records of a large service are composed of components: see `component`.

    service: the name of the service.
    not_found_messages: the message of the 404 by collection, with `{}` for the key.
    deferred: the methods that may be called later, by name.
    """

    service: ClassVar[str]
    not_found_messages: ClassVar[Mapping[str, str]] = {}

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.deferred: dict[str, Callable[..., None]] = {}
        self.deferrable(self.finish_change)
        self.accept_former_name("settle", self.finish_change)

    def seed(self) -> None:
        """Fill a new cloud; called once for each state file, when the service is first opened."""

    def opened(self) -> None:
        """Called each time the service is opened, in a new cloud or one from its file, after `seed`."""

    def table(
        self,
        name: str,
        kind: type[T],
        *indexes: str,
        missing: Callable[[str], ApiError] | None = None,
        internal: bool = False,
    ) -> Table[T]:
        """Make the table of a class of records.

        name: the collection, under which state files have the records.
        indexes: the fields by which records are often searched.
        missing: makes the 404 for an unknown ID; without it, the 404 has the message of `not_found_messages`.
        internal: see `Table`.

        Raises: StateUnusable for a stored record that lacks a field.
        """
        message = self.not_found_messages.get(name, "{} could not be found.")
        missing = missing or (lambda key: not_found(message.format(key)))
        return self.cloud.store.table(kind, self.service, name, indexes, missing, internal)

    def deferrable(self, *methods: Callable[..., None]) -> None:
        """Let `after` and other services' `notify` call these methods, by their names: names are part of the state
        file, and no two methods of a service may share one."""
        for method in methods:
            if method.__name__ in self.deferred:
                raise ValueError(f"{self.service} has two state changes with the name {method.__name__}.")
            self.deferred[method.__name__] = method

    def accept_former_name(self, former: str, method: Callable[..., None]) -> None:
        """Let state files of earlier releases name a deferrable method by its former name."""
        self.deferred[former] = method

    def after(self, seconds: float, method: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call a method that was given to `deferrable` later, with JSON arguments; `Cloud.pace` scales the delay.

        The call is kept in the state file and is made after a restart. The method must accept that its record has
        been deleted in the meantime.
        """
        if kwargs or self.deferred.get(method.__name__) != method:
            raise ValueError(f"{method.__name__} is not a deferrable method of {self.service} with plain arguments.")
        self.cloud.transitions.add(seconds * self.cloud.pace, self.service, method.__name__, list(args))

    def run_deferred(self, method: str, arguments: list[object]) -> None:
        """Make a call that `after` or `notify` announced. KeyError for a method that is not deferrable."""
        self.deferred[method](*arguments)

    def notify(self, service: str, method: str, *arguments: object) -> None:
        """Let another service call one of its deferrable methods soon, with JSON arguments, without waiting for it.
        Does nothing in a cloud without that service."""
        if self.cloud.has_service(service):
            self.cloud.transitions.add(0.0, service, method, list(arguments))

    def change_later(self, seconds: float, rows: Table[T], record: T, changes: Data, failed: Data) -> None:
        """Set `changes` on a record after `seconds`, or `failed` when a fault rule demands it.

        Nothing happens if the record has been removed by then.
        """
        self.after(seconds, self.finish_change, rows.name, record.id, changes, failed)

    def finish_change(self, collection: str, key: str, changes: Data, failed: Data) -> None:
        """Carry out what `change_later` announced."""
        records = self.cloud.store.tables[self.service, collection]
        record = records.get(key)
        if record is not None:
            has_fault = record.take_fault() is not None
            records.update(record, **(failed if has_fault else changes))

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.cloud.clock.now(), UTC)

    def timestamp(self, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
        """The time of day as the service writes it."""
        return self.now().strftime(form)


@dataclass(frozen=True)
class Microversions:
    """`OpenStack-API-Version: <type> X.Y`; `legacy_header` is the older header some services also read.

    `alone` says that the service sends the older header only.
    `range_headers` are the headers in which some services send the minimum and the maximum: those with an older header
    with every response, without the type.
    `varies` says that answers have the header `Vary`.
    `malformed` is the status for a version that is not of the form X.Y.
    `names_refused` says that the refusal of a version that the service does not have names this version.
    `aliases` are further types by which clients may call the service.
    """

    type: str
    minimum: Version
    maximum: Version
    default: Version
    legacy_header: str | None = None
    alone: bool = False
    range_headers: tuple[str, str] | None = None
    aliases: tuple[str, ...] = ()
    varies: bool = True
    malformed: int = 400
    names_refused: bool = False


class Target(NamedTuple):
    """Where a route leads. `versioned` ones negotiate a microversion; version documents are served to clients of any,
    so that they can negotiate. `rule` names the policy rule that decides who may call it,
    `roles` are those of which one is needed."""

    handler: Handler
    needs_token: bool
    versioned: bool
    rule: str = ""
    roles: frozenset[str] = frozenset()


READERS = frozenset({"reader", "member"})
"""The roles that may read what a project has, by the default policies of OpenStack's services."""


@dataclass(frozen=True)
class Service:
    """One service of the cloud, as data.

    name: the project's name and the service's name in the catalog (`nova`); also the key of its records.
    mount: first segment of its paths (`/compute`).
    endpoints: catalog type → URL path below the cloud's root; `%(project_id)s` is filled in per token.
    routes: path below each of `prefixes` → method → handler `(records, request) -> Response`.
    root: further routes directly below the mount (version discovery).
    public: `METHOD pattern` of routes served without a token.
    optional_token: every route is, and handlers look at `request.caller` themselves (Swift).
    exact_paths: a slash at the end of a path counts (see `Router`).
    wrong_method: the status for a path that is known with other methods only: 404 or 405.
    sends_request_id: whether answers have the ID of the request as `x-openstack-request-id`. identified_after_token:
    not those of the token check, which comes before the request gets its ID.
    error_body: the body of an error; bytes or JSON data. error_type: its content type, if it is not
    that of other answers. token_error_body: the body when the token check refuses a request, token_error_headers:
    further headers then; most services leave that to the same check.
    error_headers: further headers of errors, except when the token check refuses a request.
    headers: further headers of every answer.
    body_messages: what the service says about bodies that it cannot read.
    rules: `METHOD pattern` → name of the policy rule; refusal: what the service says when one is not passed, with
    `{rule}`. Without them it says which roles are needed.
    readers: the roles of which one is needed for requests that read and have a policy rule.
    writers: the roles of which one is needed for requests that change something; without any, each route decides.
    written_by_all: patterns of the routes for which none is needed.
    """

    name: str
    mount: str
    records: type[Records]
    endpoints: Mapping[str, str]
    routes: Routes
    error_body: Callable[[ApiError], object] = keystone_body
    token_error_body: Callable[[ApiError], object] = keystone_body
    token_error_headers: Mapping[str, str] = field(default_factory=dict)
    prefixes: tuple[str, ...] = ("",)
    root: Routes = field(default_factory=dict)
    public: frozenset[str] = frozenset()
    optional_token: bool = False
    exact_paths: bool = False
    wrong_method: int = 405
    microversions: Microversions | None = None
    request_id_header: str | None = None
    sends_request_id: bool = True
    identified_after_token: bool = False
    error_type: str | None = None
    error_headers: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body_messages: BodyMessages = field(default_factory=BodyMessages)
    rules: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    readers: frozenset[str] = frozenset()
    writers: frozenset[str] = frozenset()
    written_by_all: frozenset[str] = frozenset()

    @cached_property
    def router(self) -> Router[Target]:
        """The compiled routes: the same for all clouds of a process."""
        router: Router[Target] = Router(self.exact_paths, self.wrong_method)
        known: set[str] = set()
        tables = [(prefix, self.routes, self.microversions is not None) for prefix in self.prefixes]
        for prefix, table, versioned in [*tables, ("", self.root, False)]:
            for pattern, methods in table.items():
                known.update(f"{method} {pattern}" for method in methods)
                router.add(
                    prefix + pattern,
                    {method: self._target(method, pattern, handler, versioned) for method, handler in methods.items()},
                )
        if ruled := self.rules.keys() - known:
            raise ValueError(f"{self.name}: rules for routes that do not exist: {sorted(ruled)}")
        if unknown := self.public - known:
            raise ValueError(f"{self.name}: public routes that do not exist: {sorted(unknown)}")
        return router

    def _target(self, method: str, pattern: str, handler: Handler, versioned: bool) -> Target:
        route = f"{method} {pattern}"
        needs_token = not self.optional_token and route not in self.public
        if method in ("GET", "HEAD"):
            roles = self.readers if route in self.rules else frozenset()
        else:
            roles = frozenset() if pattern in self.written_by_all else self.writers
        return Target(handler, needs_token, versioned, self.rules.get(route, ""), roles)


@dataclass(frozen=True)
class LazyService:
    """A service that a cloud has, and that is imported when it is first needed.

    name, mount, endpoints: those of the `Service`, for the catalog.
    place: where the `Service` is: a module, a colon, and the name of a variable.
    group: the name by which a user chooses services; several may go together.
    needs: the groups of the services that this one calls.
    always: the service is opened with the cloud, and cannot be left out.
    """

    name: str
    mount: str
    endpoints: Mapping[str, str]
    place: str
    group: str
    needs: tuple[str, ...] = ()
    always: bool = False

    def load(self) -> Service:
        """Import the service. Raises ValueError when its name, mount or endpoints are not these."""
        module, _, variable = self.place.partition(":")
        service: Service = getattr(import_module(module), variable)
        if (service.name, service.mount, dict(service.endpoints)) != (self.name, self.mount, dict(self.endpoints)):
            raise ValueError(
                f"{self.place} has another name, mount or other endpoints than its entry in the list of services."
            )
        return service


@dataclass(frozen=True)
class MountedService:
    """A service that has been opened in a cloud: its compiled routes and its records."""

    service: Service
    router: Router[Target]
    records: Records


class Cloud:
    """An OpenStack cloud as a plain object.

    services: what it consists of. A `LazyService` is imported, and in a new cloud seeded, when a request, another
    service or a pending state change needs it first; the others are opened at once, in this order.
    clock: what time it is; tests give a `ManualClock`.
    state_path: file that keeps the state over restarts; None keeps it in memory.
    endpoint: public URL of the root, used in the catalog and in links.
    pace: factor on all delays; with 0 state changes happen as soon as the loop is free.
    extra_endpoints: catalog type → URL (with `%(project_id)s`) of services that run elsewhere.
    password: of the seeded users. passwords: exceptions to it, by user name.
    vendor_data: what the metadata service shows to all servers as static vendor data.
    guests: what runs in servers; nothing by default. The compute service opens it.
    permitted: what users may have requests sent to, besides what `RequestSender` permits anyway.
    """

    def __init__(
        self,
        services: Iterable[Service | LazyService],
        clock: Clock | None = None,
        state_path: Path | None = None,
        endpoint: str = "http://127.0.0.1:5000",
        pace: float = 1.0,
        extra_endpoints: Mapping[str, str] | None = None,
        password: str = WELL_KNOWN_PASSWORD,
        passwords: Mapping[str, str] | None = None,
        vendor_data: Mapping[str, object] | None = None,
        guests: GuestDriver | None = None,
        permitted: Sequence[PermittedAddresses] = (),
    ) -> None:
        self.services = tuple(services)
        self.clock = clock or SystemClock()
        self.endpoint = endpoint.rstrip("/")
        self.pace = pace
        self.extra_endpoints = dict(extra_endpoints or {})
        self._password = password
        self._passwords = dict(passwords or {})
        self.vendor_data = dict(vendor_data or {})
        self.guests = guests or NoGuests()
        has_guests = bool(self.guests.selection.drivers())
        self.request_sender = RequestSender(
            lambda: [self.endpoint, *self.extra_endpoints.values()], has_guests, permitted
        )
        self.store = Store(state_path)
        self.transitions = Transitions(self.store, self.clock, self._change_state)
        self._seeded = self.store.table(SeededService, "core", "seeded", internal=True)
        self.faults = Faults(self.clock)
        self.journal = Journal()
        self.authenticate: Callable[[str], Context | None] = lambda token: None
        self.admit: Callable[[Context, Service, Request], None] = lambda caller, service, request: None
        self._by_mount = {service.mount.strip("/"): service.name for service in self.services}
        self._by_name = {service.name: service for service in self.services}
        self._mounted: dict[str, MountedService] = {}
        self._open([entry for entry in self.services if isinstance(entry, Service) or entry.always])
        self.store.flush()

    def service_at(self, mount: str) -> MountedService | None:
        """The service whose paths begin with this segment."""
        name = self._by_mount.get(mount)
        return None if name is None else self.service_named(name)

    def service_named(self, name: str) -> MountedService:
        """A service of the cloud, opened if it is not yet. KeyError for a service that the cloud does not have."""
        if name not in self._mounted:
            self._open([self._by_name[name]])
        return self._mounted[name]

    def open_all(self) -> None:
        """Open the services that nothing has needed yet."""
        for name in self._by_name:
            self.service_named(name)

    def of(self, kind: type[R]) -> R:
        """The records of a service, by their class."""
        records = self.service_named(kind.service).records
        if not isinstance(records, kind):
            raise TypeError(f"The records of {kind.service} are {type(records).__name__}, not {kind.__name__}.")
        return records

    def has(self, kind: type[Records]) -> bool:
        """Whether the cloud has the service that keeps these records."""
        return self.has_service(kind.service)

    def table_of(self, service: str, name: str) -> Table[Any] | None:
        """The rows of a service by their name; None in a cloud without the service."""
        if service not in self._by_name:
            return None
        self.service_named(service)
        return self.store.tables.get((service, name))

    def has_service(self, name: str) -> bool:
        """Whether the cloud has the service of this name."""
        return name in self._by_name

    def was_used(self, name: str) -> bool:
        """Whether the service of this name was ever opened in this cloud, also before a restart."""
        return name in self._seeded

    def password_of(self, user: str) -> str:
        """The configured password of a seeded user."""
        return self._passwords.get(user, self._password)

    def start(self) -> None:
        """Start pending state changes; called on the thread of the event loop."""
        self.transitions.start()

    def close(self) -> None:
        """Write what is unwritten and close the file."""
        self.store.close()

    def _own_urls(self) -> list[str]:
        return [self.endpoint, *self.extra_endpoints.values()]

    def _open(self, services: Iterable[Service | LazyService]) -> None:
        loaded = [entry.load() if isinstance(entry, LazyService) else entry for entry in services]
        for service in loaded:
            self._mounted[service.name] = MountedService(service, service.router, service.records(self))
        for service in loaded:
            if service.name not in self._seeded:
                self._mounted[service.name].records.seed()
                self._seeded.add(SeededService(id=service.name))
        for service in loaded:
            self._mounted[service.name].records.opened()

    def _change_state(self, service: str, method: str, arguments: list[Any]) -> None:
        self.service_named(service).records.run_deferred(method, arguments)


def new_id() -> str:
    """An id with dashes, as Nova, Neutron and Cinder give."""
    return str(uuid4())


def new_hex_id() -> str:
    """An id without dashes, as Keystone gives."""
    return uuid4().hex
