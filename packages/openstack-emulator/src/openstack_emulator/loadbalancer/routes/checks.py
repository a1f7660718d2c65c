"""Checks of fields with the messages of Octavia, which are those of its web framework's types."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.fields import one_of
from openstack_emulator.core.validation.objects import Dialect, Step, value_at
from openstack_emulator.core.validation.problems import Problem, Reason, specific
from openstack_emulator.core.validation.sentences import WSME

_PERSISTENCE = ("type", "cookie_name", "persistence_timeout", "persistence_granularity")
_KIND = one_of("SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE")


def _refusal(where: str, body: object, problem: Problem, words: str) -> ApiError:
    """The 400 for an object; it names the innermost field with the problem, never a member of a list."""
    if problem.reason is Reason.UNKNOWN and not problem.path:
        return bad_request(f"Unknown attribute for argument {where}: {problem.expected[0]}")
    if problem.reason is Reason.MISSING:
        return _invalid(problem.expected, None, words)
    path = problem.field_path
    return _invalid(str(path[-1]) if path else where.rpartition(".")[2], value_at(body, path), words)


def _invalid(name: str, value: object, words: str) -> ApiError:
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {words}")


GIVEN = Dialect((Step.FIELDS,), _refusal, WSME)
"""Checks the fields that a request gives."""
COMPLETE = Dialect((Step.MISSING,), _refusal, WSME, null_is_missing=True)
"""Checks that no field is missing."""


def address(value: Any) -> Problem | None:
    """An IP address."""
    try:
        ip_address(value if isinstance(value, str) else "")
    except ValueError:
        return Problem(Reason.FORMAT, value, "ip")
    return None


def network(value: Any) -> Problem | None:
    """The CIDR of a network."""
    try:
        ip_network(value if isinstance(value, str) else "", strict=False)
    except ValueError:
        return Problem(Reason.FORMAT, value, "cidr")
    return None


def session_persistence(value: Any) -> Problem | None:
    """How a pool recognizes a session."""
    known = set(_PERSISTENCE)
    if not isinstance(value, dict) or not {"type"} <= value.keys() <= known:
        return specific(value, f"Value should be an object with 'type' and maybe {', '.join(sorted(known - {'type'}))}")
    problem = _KIND(value["type"])
    return None if problem is None else problem.within("type")
