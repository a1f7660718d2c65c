"""One request on its way to an engine and back: what a handler gets, and what a row of the table of actions says."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from oslo_config import cfg

from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.parameters import Parameters
from stoker.api.templates_by_url import template_at
from stoker.base.errors import EntityNotFound
from stoker.contract.request import Request, Untyped
from stoker.rpc.contract import EngineClient, RequestContext

PAGE = 100
"""How many items one answer lists."""

_STACK = "StackName"


@dataclass(frozen=True)
class Call:
    """A request whose signer is known, allowed and whose values have been read.

    `values` has every parameter of the action by name; None stands for what was not given.
    """

    context: RequestContext
    client: EngineClient
    config: cfg.ConfigOpts
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def ask(self, operation: str | Request[Any], **arguments: Any) -> Any:
        """The engine's answer to `operation`."""
        request = Untyped(operation, arguments) if isinstance(operation, str) else operation
        return self.client.call(self.context, request)

    def ask_of_stack(self, operation: str, **arguments: Any) -> Any:
        """The engine's answer to `operation` on the stack that StackName names. Raises QueryError for none."""
        return self.ask_of(self[_STACK], operation, **arguments)

    def ask_of(self, stack: str, operation: str, **arguments: Any) -> Any:
        """The same for another stack, by its name, id or ARN."""
        try:
            return self.ask(operation, ref={"name": stack, "id": None}, **arguments)
        except EntityNotFound as error:
            if type(error) is not EntityNotFound:
                raise
            raise no_stack(stack) from error

    def text_of(self, name: str) -> str | None:
        """A document that is given as `<name>Body`, or by its address as `<name>URL`."""
        body, url = self[f"{name}Body"], self[f"{name}URL"]
        if body is not None and url is not None:
            raise QueryError("InvalidParameterCombination", f"Give {name}Body or {name}URL, not both.")
        if body == "":
            raise QueryError("ValidationError", f"{name}Body is empty.")
        if url is None:
            return None if body is None else str(body)
        return template_at(url, self.config, self.context)

    def required_text_of(self, name: str) -> str:
        """The same where it must be given."""
        found = self.text_of(name)
        if found is None:
            raise QueryError("MissingParameter", f"The request must have the parameter {name}Body, or {name}URL.")
        return found


def no_stack(stack: str) -> QueryError:
    """There is no such stack; clients look for these words."""
    return QueryError("ValidationError", f"Stack with id {stack} does not exist")


Handler: TypeAlias = Callable[[Call], "dict[str, Any] | None"]
"""Returns what stands in the result element."""


PolicyChoice: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Names the rule that decides, given the values of the request."""


@dataclass(frozen=True)
class Action:
    """What one action takes, does and needs.

    `policy` is the rule that decides, or a choice where that depends on the values. `undated` allows requests that do
    not say when they were signed. `takes_types` marks the actions that check resource types against policy.
    """

    handler: Handler
    policy: str | PolicyChoice
    parameters: Parameters = field(default_factory=dict)
    undated: bool = False
    takes_types: bool = False

    def rule(self, values: Mapping[str, Any]) -> str:
        """The rule that decides about a request with these values."""
        return self.policy if isinstance(self.policy, str) else self.policy(values)


# -- pages ---------------------------------------------------------------------------------------------------------


def next_token(marker: str) -> str:
    """A NextToken that leads on from the item `marker`."""
    return base64.urlsafe_b64encode(marker.encode()).decode()


def marker_of(token: str | None) -> str | None:
    """The item that a NextToken leads on from. Raises QueryError for what is none of ours."""
    if token is None:
        return None
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise _bad_token() from None


def page_of(items: Sequence[Any], token: str | None, size: int = PAGE) -> tuple[list[Any], str | None]:
    """The page of `items` that a NextToken means, and the token of the next page."""
    marker = marker_of(token)
    if marker is not None and not (marker.isascii() and marker.isdigit() and len(marker) < 10):
        raise _bad_token()
    start = int(marker or 0)
    end = start + size
    return list(items[start:end]), next_token(str(end)) if end < len(items) else None


def _bad_token() -> QueryError:
    return QueryError("ValidationError", "NextToken must be what an earlier answer gave.")
