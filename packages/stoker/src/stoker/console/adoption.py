"""Creating a stack from the data of an abandoned one, with the resources that are in the cloud already."""

from __future__ import annotations

import json

from stoker.console.exchange import EDIT, Exchange
from stoker.console.gateway import ApiError, segment
from stoker.console.permissions import ADOPT


def ask(exchange: Exchange) -> None:
    """Show the form. Raises ApiError if policy does not allow what it is for."""
    exchange.permissions.require(*ADOPT)
    exchange.show("adopt.html", name="", data="", problem="")


def adopt(exchange: Exchange) -> None:
    """Create the stack; without a name in the form, that in the data counts."""
    name, data = exchange.form("name").strip(), exchange.form("data")
    if exchange.form("do") == EDIT:
        exchange.show("adopt.html", name=name, data=data, problem="")
        return
    try:
        document = _read(data)
        name = name or str(document.get("name") or document.get("stack_name") or "")
        stack = exchange.api.send("POST", "/stacks", {"stack_name": name, "adopt_stack_data": data})["stack"]
    except ApiError as error:
        if error.status == 401:
            raise
        exchange.show("adopt.html", error.status, name=name, data=data, problem=error.message)
        return
    exchange.redirect(f"/stacks/{segment(name)}/{segment(stack['id'])}")


def _read(data: str) -> dict[str, object]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise ApiError(400, f"The data is not valid JSON: {error}.") from None
    if not isinstance(document, dict):
        raise ApiError(400, "The data must be a JSON object: what a stack returns when it is abandoned or exported.")
    return document
