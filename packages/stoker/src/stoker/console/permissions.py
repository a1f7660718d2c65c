"""What the user may do. The API enforces policy; pages ask it in advance, and disable what it would refuse.

Which policy rule a request needs is read from the API's table of routes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.v1.routes import ROUTES
from stoker.console.gateway import ApiError, Gateway

STACK_ROUTE = "/stacks/{stack_name}/{stack_id}"


def rule_of(method: str, route: str, body: Any = None) -> str:
    """Return the policy rule that the API checks for a request."""
    return ROUTES[route][method].rule(body)


VALIDATE = rule_of("POST", "/validate")
CREATE = (rule_of("POST", "/stacks"), rule_of("POST", "/stacks/preview"), VALIDATE)
ADOPT = (rule_of("POST", "/stacks"),)
UPDATE = (
    rule_of("PATCH", STACK_ROUTE, {"template": "new"}),
    rule_of("PATCH", f"{STACK_ROUTE}/preview"),
    VALIDATE,
)
COMPARE = (rule_of("POST", f"{STACK_ROUTE}/drift/detections"), rule_of("GET", f"{STACK_ROUTE}/drift"))
ACCEPT = (rule_of("POST", f"{STACK_ROUTE}/actions", {"accept_drift": None}),)
WATCH = (rule_of("PATCH", f"{STACK_ROUTE}/drift/watch"),)
CORRECT = (rule_of("PATCH", STACK_ROUTE, {"converge": True}),)
FIND = (rule_of("GET", "/resources"),)
ORPHANS = (rule_of("GET", "/orphans"),)
GENERATE = (rule_of("GET", "/generated_template"),)
REMOVE_ORPHANS = (*GENERATE, rule_of("POST", "/stacks"), rule_of("DELETE", STACK_ROUTE))
PLAN_REFACTOR = (rule_of("POST", "/refactors"),)
CREATE_STACKS_BY_REFACTOR = (rule_of("POST", "/refactors", {"create_stacks": True}),)
EXECUTE_REFACTOR = (rule_of("POST", "/refactors/{refactor_id}/execute"),)
SERVICES = (rule_of("GET", "/services"),)
REVIEW = (rule_of("PUT", "/change_requests/{request_id}/approval"),)
BREAK_GLASS = (rule_of("POST", "/change_requests/{request_id}/break_glass"),)
EXPORT = (rule_of("GET", f"{STACK_ROUTE}/export"),)
"""The rules that the requests of a page need, together."""


class Permissions:
    """The rules that a user passes in the project; those that are not in `passed` are left to the API."""

    def __init__(self, passed: Mapping[str, bool]) -> None:
        self._passed = passed

    @classmethod
    def of(cls, api: Gateway) -> Permissions:
        """Ask the API. If policy does not even permit that, everything is left to it. Raises ApiError."""
        try:
            return cls(api.get("/permissions")["permissions"])
        except ApiError as error:
            if error.status != 403:
                raise
            return cls({})

    def refusal(self, *rules: str) -> str:
        """Return the first of the rules that the user does not pass; an empty string if there is none."""
        return next((rule for rule in rules if not self._passed.get(rule, True)), "")

    def require(self, *rules: str) -> None:
        """Raise ApiError if the API would refuse a request that needs these rules."""
        if rule := self.refusal(*rules):
            raise ApiError(
                403,
                f"Policy does not allow {rule} to you in this project. An administrator of the cloud can give you a "
                "role that permits it.",
            )
