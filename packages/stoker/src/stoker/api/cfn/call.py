"""A request of the Query API and its action, as handlers and the table of actions use them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from oslo_config import cfg

from stoker.api.cfn.faults import QueryError
from stoker.api.templates_by_url import template_at
from stoker.api.values import Fields
from stoker.base.errors import EntityNotFound
from stoker.contract.request import Answer, OfStack, Reference, Request, by_name
from stoker.rpc.contract import EngineClient, RequestContext

PAGE = 100
"""Number of items on one page."""

_STACK = "StackName"


@dataclass(frozen=True)
class QueryCall:
    """A request whose signer is authenticated and authorized, and whose parameters have been parsed.

    `values` has every parameter of the action by name; missing ones are None.
    """

    context: RequestContext
    client: EngineClient
    config: cfg.ConfigOpts
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def ref(self) -> Reference:
        """The stack in StackName."""
        return by_name(self[_STACK])

    def execute(self, request: Request[Answer]) -> Answer:
        """Have an engine carry `request` out, and return its answer."""
        return self.client.call(self.context, request)

    def execute_on_stack(self, request: OfStack[Answer]) -> Answer:
        """Do the same for a request about a stack. Raises QueryError if the stack does not exist."""
        try:
            return self.execute(request)
        except EntityNotFound as error:
            if type(error) is not EntityNotFound:
                raise
            raise no_stack(str(request.ref["name"])) from error

    def text_of(self, name: str) -> str | None:
        """Return a document that is given in `<name>Body`, or by its URL in `<name>URL`."""
        body, url = self[f"{name}Body"], self[f"{name}URL"]
        if body is not None and url is not None:
            raise QueryError("InvalidParameterCombination", f"Give {name}Body or {name}URL, not both.")
        if body == "":
            raise QueryError("ValidationError", f"{name}Body is empty.")
        if url is None:
            return None if body is None else str(body)
        return template_at(url, self.config, self.context)

    def required_text_of(self, name: str) -> str:
        """Return the same for a required document."""
        found = self.text_of(name)
        if found is None:
            raise QueryError("MissingParameter", f"The request must have the parameter {name}Body, or {name}URL.")
        return found


def no_stack(stack: str) -> QueryError:
    """Return the error for a stack that does not exist; clients search for these words."""
    return QueryError("ValidationError", f"Stack with id {stack} does not exist")


Handler: TypeAlias = Callable[[QueryCall], "dict[str, Any] | None"]
"""Returns the content of the result element."""


PolicyChoice: TypeAlias = Callable[[Mapping[str, object]], str]
"""Returns the policy rule for the parameters of the request."""


@dataclass(frozen=True)
class Action:
    """The parameters, the handler and the requirements of one action.

    `policy` is the policy rule, or a function that returns it if it depends on the parameters. `undated` allows
    requests without the time of their signature. `takes_types` marks the actions that check resource types against
    policy.
    """

    handler: Handler
    policy: str | PolicyChoice
    parameters: Fields = field(default_factory=dict)
    undated: bool = False
    takes_types: bool = False

    def rule(self, values: Mapping[str, Any]) -> str:
        """Return the policy rule for a request with these parameters."""
        return self.policy if isinstance(self.policy, str) else self.policy(values)


# -- pages ---------------------------------------------------------------------------------------------------------


def next_token(marker: str) -> str:
    """Return a NextToken for the page after the item `marker`."""
    return base64.urlsafe_b64encode(marker.encode()).decode()


def marker_of(token: str | None) -> str | None:
    """Return the last item before the page of a NextToken. Raises QueryError for an invalid token."""
    if token is None:
        return None
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise _bad_token() from None


def number_of(token: str | None) -> int:
    """Return the number of items before the page of a NextToken. Raises QueryError for an invalid token."""
    marker = marker_of(token)
    if marker is not None and not (marker.isascii() and marker.isdigit() and len(marker) < 10):
        raise _bad_token()
    return int(marker or 0)


def page_of(items: Sequence[object], token: str | None, size: int = PAGE) -> tuple[list[Any], str | None]:
    """Return the page of `items` for a NextToken, and the token of the next page."""
    start = number_of(token)
    end = start + size
    return list(items[start:end]), next_token(str(end)) if end < len(items) else None


def _bad_token() -> QueryError:
    return QueryError("ValidationError", "NextToken must be that of a previous response.")
