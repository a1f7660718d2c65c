"""A request of the REST API and its action, as handlers and the route table use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from oslo_config import cfg

from stoker.api.requests import Body, Query
from stoker.api.v1.event_stream import CONTENT_TYPE, EventStream, EventStreams
from stoker.api.v1.links import Links
from stoker.contract.request import Answer, Reference, Request
from stoker.rpc.contract import EngineClient, RequestContext


@dataclass(frozen=True)
class RestCall:
    """A request that has been authenticated, authorized and checked.

    `path` has the variables of the route, `query` and `body` the checked values by name (None if missing), `sent` the
    JSON object of the body as received. `url` is the whole request URL without its query, `query_string` that query as
    received. `last_event` is the ID of the last event that a reconnecting client of an event stream has received.
    `wake` signals that a stream has more data, if the server supports that (see `serving.exchange.WAKE`). `allows` says
    whether the caller passes a policy rule; `require` raises NotAllowed if not.
    """

    context: RequestContext
    client: EngineClient
    config: cfg.ConfigOpts
    allows: Callable[[str], bool]
    require: Callable[[str], None]
    streams: EventStreams
    links: Links
    method: str
    url: str
    query_string: str
    path: Mapping[str, str]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    sent: Mapping[str, Any] | None = None
    last_event: str | None = None
    wake: Callable[[], None] | None = None

    @property
    def ref(self) -> Reference:
        """The stack in the URL."""
        return {"name": self.path.get("stack_name"), "id": self.path.get("stack_id")}

    def execute(self, request: Request[Answer]) -> Answer:
        """Have an engine carry `request` out, and return its answer."""
        return self.client.call(self.context, request)


@dataclass(frozen=True)
class Reply:
    """A response with its own headers; `stream` replaces the body if it is set."""

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: EventStream | None = None


Handler: TypeAlias = Callable[[RestCall], object]
"""Returns the JSON body of the response, or a Reply."""

PolicyChoice: TypeAlias = Callable[[Mapping[str, object] | None], str]
"""Returns the policy rule for the body as received (None: no body). Raises BadRequest."""


@dataclass(frozen=True)
class Action:
    """The action of one method of one route.

    `policy` is the policy rule, or a function that returns it if it depends on the body. `success` is the status of the
    response. `takes_types` marks the operations that check resource types against policy. `shared` marks a long list,
    which is the same for all who have the same credentials: it is made once for those who wait for it at the same time.
    `as_stream` is the action for a client that accepts a stream of events.
    """

    handler: Handler
    policy: str | PolicyChoice
    success: int = 200
    query: Query = field(default_factory=Query)
    body: Body | None = None
    takes_types: bool = False
    shared: bool = False
    as_stream: Action | None = None

    def for_client(self, accepts: str) -> Action:
        """Return the action for a client with this header `Accept`."""
        media_types = {media_type.partition(";")[0].strip().lower() for media_type in accepts.split(",")}
        return self.as_stream if self.as_stream is not None and CONTENT_TYPE in media_types else self

    def rule(self, body: Mapping[str, Any] | None) -> str:
        """Return the policy rule for a request with this body."""
        return self.policy if isinstance(self.policy, str) else self.policy(body)
