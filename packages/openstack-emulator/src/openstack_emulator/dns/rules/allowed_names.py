"""What operators allow as names of zones: top-level domains, and patterns of names that are refused."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.problems import Problem, Reason, specific
from openstack_emulator.dns.records import Blacklist, TopLevelDomain
from openstack_emulator.dns.rules.names import folded
from stoker_foundation.patterns import PatternError
from stoker_foundation.patterns.linear import expression


class AllowedNames(Rules):
    """Top-level domains, which zones must be below if there are any, and blacklists."""

    def __init__(self, records: Records, domains: Table[TopLevelDomain], blacklists: Table[Blacklist]) -> None:
        super().__init__(records)
        self._domains = domains
        self._blacklists = blacklists

    def check(self, name: str, is_admin: bool) -> None:
        """Raise ApiError 400 for a name that no zone may have; blacklists do not apply to administrators."""
        labels = folded(name).removesuffix(".").split(".")
        if len(labels) < 2:
            raise ApiError(400, "More than one label is required", "invalid_zone_name")
        endings = {".".join(labels[start:]) for start in range(len(labels))}
        if len(self._domains):
            known = {folded(domain.name) for domain in self._domains}
            if not endings & known or ".".join(labels) in known:
                raise ApiError(400, "Invalid TLD", "invalid_zone_name")
        if not is_admin and any(expression(blacklist.pattern).found_in(name) for blacklist in self._blacklists):
            raise ApiError(400, "Blacklisted zone name", "invalid_zone_name")


def pattern_problem(value: object) -> Problem | None:
    """Return what is wrong with the pattern of a blacklist; None for a regular expression."""
    if not isinstance(value, str) or not 0 < len(value) <= 255:
        return specific(value, f"{value!r} is not a string of 1 to 255 characters")
    try:
        expression(value)
    except PatternError:
        return Problem(Reason.FORMAT, value, "regex")
    return None
