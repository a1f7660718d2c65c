"""Neutron's errors: `{"NeutronError": {"type", "message", "detail"}}`."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found


def missing(name: str, label: str, key: str) -> ApiError:
    """404: `NetworkNotFound`, "Network <id> could not be found."."""
    return not_found(f"{label} {key} could not be found.", f"{name}NotFound")


def invalid(field: str, reason: str) -> ApiError:
    """400 for a value that is not acceptable in itself."""
    return bad_request(f"Invalid input for {field}. Reason: {reason}", "HTTPBadRequest")


def invalid_input(message: str) -> ApiError:
    """400 for values that do not go together."""
    return bad_request(f"Invalid input for operation: {message}", "InvalidInput")


def disallowed(rule: str) -> ApiError:
    """403 of a policy rule: `create_network`, or `create_network:shared`, which is checked beside the former."""
    action, _, attribute = rule.partition(":")
    return disallowed_by(f"(rule:{action} and rule:{rule})" if attribute else f"rule:{action}")


def disallowed_by(rules: str) -> ApiError:
    """403 of several policy rules: `(rule:create_network and rule:create_network:shared)`."""
    return forbidden(f"{rules} is disallowed by policy", "PolicyNotAuthorized")


def foreign_project() -> ApiError:
    """400 for an object of another project than the caller's."""
    message = "other than the authenticated project in request is not allowed for the current user."
    return bad_request(f"Specifying 'project_id' {message}", "HTTPBadRequest")


def in_use(kind: str, message: str) -> ApiError:
    """Neutron's 409. kind: the name of the error in its body."""
    return conflict(message, kind)
