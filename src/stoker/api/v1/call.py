"""One request on its way to an engine and back: what a handler gets, and what a row of the route table says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from oslo_config import cfg

from stoker.api.schema import Body, Query
from stoker.api.v1.event_stream import CONTENT_TYPE, EventStream, EventStreams
from stoker.api.v1.links import Links
from stoker.contract.request import Request, Untyped
from stoker.rpc.contract import EngineClient, RequestContext


@dataclass(frozen=True)
class Call:
    """A request that has been authenticated, allowed and checked.

    `path` holds the variables of the route, `query` and `body` the checked values by name (None stands for what was
    not given), `sent` the JSON object of the body as it came. `url` is the whole request URL without its query,
    `query_string` that query as sent. `last_event` is the id that a client which comes back to a stream of events says
    it has seen. `wake` says that a stream has more to give, where the server has that (see `serving.exchange.WAKE`).
    """

    context: RequestContext
    client: EngineClient
    config: cfg.ConfigOpts
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
    def ref(self) -> dict[str, str | None]:
        """The stack that the URL names."""
        return {"name": self.path.get("stack_name"), "id": self.path.get("stack_id")}

    def ask(self, operation: str | Request[Any], **arguments: Any) -> Any:
        """The engine's answer to `operation`."""
        request = Untyped(operation, arguments) if isinstance(operation, str) else operation
        return self.client.call(self.context, request)

    def ask_of_stack(self, operation: str, **arguments: Any) -> Any:
        """The engine's answer to `operation` on the stack that the URL names."""
        return self.ask(operation, ref=self.ref, **arguments)


@dataclass(frozen=True)
class Reply:
    """An answer with headers of its own; `stream` stands in for the body when there is one."""

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: EventStream | None = None


Handler: TypeAlias = Callable[[Call], Any]
"""Returns the JSON of the answer, or a Reply."""

PolicyChoice: TypeAlias = Callable[[Mapping[str, Any] | None], str]
"""Names the rule that decides, given the body as it was sent (None: no body). Raises BadRequest."""


@dataclass(frozen=True)
class Action:
    """What one method of one route does.

    `policy` is the rule that decides, or a choice where that depends on the body. `success` is the
    status of the answer. `takes_types` marks the operations that check resource types against policy. `as_stream` is
    what answers a client that wants a stream of events instead.
    """

    handler: Handler
    policy: str | PolicyChoice
    success: int = 200
    query: Query = field(default_factory=Query)
    body: Body | None = None
    takes_types: bool = False
    as_stream: Action | None = None

    def for_client(self, accepts: str) -> Action:
        """What answers a client with this header `Accept`."""
        wanted = {media_type.partition(";")[0].strip().lower() for media_type in accepts.split(",")}
        return self.as_stream if self.as_stream is not None and CONTENT_TYPE in wanted else self

    def rule(self, given: Mapping[str, Any] | None) -> str:
        """The rule that decides about a request with this body."""
        return self.policy if isinstance(self.policy, str) else self.policy(given)
