"""Domain names: their form, their place in zones, and the names of addresses in reverse zones (RFC 1035, RFC 3596)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from openstack_emulator.core.validation.problems import Problem, specific, wrong_type

LONGEST = 255
"""Bytes of a name in a message, which has one more than the string: the length of the first label (RFC 1035, 3.1)."""
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)", re.ASCII)
_MAILBOX = re.compile(r"[^@\s\"(),:;<>\[\]\\]{1,64}@([^@\s]+)", re.ASCII)


def domain_problem(value: object) -> Problem | None:
    """Return what is wrong with the name of a zone; None for a valid one."""
    if not isinstance(value, str):
        return wrong_type(value, "string")
    labels = value.removesuffix(".").split(".")
    if not value.endswith("."):
        return specific(value, f"Domain {value} does not end with a dot")
    if len(value) >= LONGEST or not all(_LABEL.fullmatch(label) for label in labels):
        return specific(value, f"Domain {value} is invalid")
    return None


def host_problem(value: object) -> Problem | None:
    """Return what is wrong with the name of a record set, whose first label can be `*`; None for a valid one."""
    if isinstance(value, str) and value.startswith("*.") and len(value) < LONGEST:
        return domain_problem(value[2:])
    return domain_problem(value)


def mailbox_problem(value: object) -> Problem | None:
    """Return what is wrong with an email address; None for a valid one."""
    found = _MAILBOX.fullmatch(value) if isinstance(value, str) and len(value) <= LONGEST else None
    if found is None or domain_problem(f"{found[1]}.") is not None or "." not in found[1]:
        return specific(value, f"{value} is not an email")
    return None


def folded(name: str) -> str:
    """Return a name for comparison: case does not matter in DNS."""
    return name.lower()


def ancestors(name: str) -> Iterator[str]:
    """Yield the names above a name, the nearest first, without the root: `b.c.` and `c.` of `a.b.c.`"""
    while (name := name.partition(".")[2]) != "":
        yield name


def is_below(name: str, zone: str) -> bool:
    """Return whether a name is a zone's own name, or below it."""
    return folded(name) == folded(zone) or folded(name).endswith("." + folded(zone))


def responsible(email: str) -> str:
    """Return the form in which a SOA record contains an email address."""
    local, _, host = email.partition("@")
    return local.replace(".", "\\.") + f".{host}."


def reverse_name(address: str) -> str:
    """Return the name of an address in DNS."""
    return f"{ip_address(address).reverse_pointer}."


def reverse_zone(address: str) -> str:
    """Return the name of the zone that is made for an address: that of its /24, or its /48 with IPv6."""
    labels = reverse_name(address).split(".")
    return ".".join(labels[1:] if ip_address(address).version == 4 else labels[20:])
