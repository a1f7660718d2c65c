"""The contents of DNS records: which types there are, and which string is a valid record of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv4Address
from typing import Any

from openstack_emulator.dns.rules.names import domain_problem

TYPES = (
    "A", "AAAA", "CNAME", "MX", "SRV", "TXT", "SPF", "NS", "PTR", "SSHFP", "SOA", "NAPTR", "CAA", "CERT", "TLSA",
    "HTTPS", "SVCB",
)  # fmt: skip
_TEXTS = ("TXT", "SPF")
_QUOTED = re.compile(r'"(\\.|[^"\\])*"(\s+"(\\.|[^"\\])*")*', re.DOTALL)
_ALPN = ("h2", "h3", "http/1.0", "http/1.1")
"""Protocols that an HTTPS record can offer (RFC 9460, 7.1)."""
_HOSTS = frozenset({"CNAME", "MX", "NS", "PTR", "SRV"})
"""Types whose records contain the name of a host."""


@lru_cache(4096)
def record_problem(kind: str, text: Any) -> str | None:
    """Return what is wrong with a record in the form of zone files (RFC 1035, 5.1); None for a valid one.

    Every name in a record must end with a dot.
    """
    problem = f"{text!r} is not a valid {kind} record"
    if not isinstance(text, str) or not text.strip() or text.startswith("\\#") or "\n" in text:
        return problem
    if kind in _TEXTS and not _is_text(text):
        return (
            f"{problem}: a string with spaces, quotes or backslashes must be in double quotes, with a backslash before "
            "inner ones"
        )
    if kind == "A" and not _is_address(text):
        return problem
    try:
        names = list(_names(kind, text))
    except ValueError as error:
        return f"{problem}: {error}"
    if kind == "HTTPS" and any(name not in _ALPN for name in _protocols(text)):
        return f"{problem}: alpn must be some of {', '.join(_ALPN)}"
    for name in names:
        if not name.endswith("."):
            return f"{problem}: the name {name!r} must end with a dot"
        if kind in _HOSTS and name != "." and domain_problem(name) is not None:
            return f"{problem}: {name!r} is not a 'hostname'"
    return None


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def _is_text(text: str) -> bool:
    if '"' in text:
        return _QUOTED.fullmatch(text.strip()) is not None
    return not re.search(r"[\s\\]", text.strip())


def _protocols(text: str) -> list[str]:
    found = re.search(r'\balpn="?([^"\s]*)', text)
    return found[1].split(",") if found else []


def _names(kind: str, text: str) -> Iterator[str]:
    """Yield the domain names in a record. Raises ValueError for text that is not a record of the type."""
    import dns.exception
    import dns.name
    import dns.rdata

    try:
        data = dns.rdata.from_text("IN", kind, text, relativize=False)
    except (dns.exception.DNSException, ValueError, OverflowError) as error:
        raise ValueError(str(error) or "it cannot be parsed") from None
    for slot in data.__slots__:
        if isinstance(value := getattr(data, slot, None), dns.name.Name):
            yield value.to_text()
