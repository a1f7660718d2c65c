"""Who may mount a share: its access rules."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, ip_network

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context, Version
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.share.records import AccessRule, Share
from openstack_emulator.share.rules.constants import LONG, SHORT
from openstack_emulator.share.rules.inputs import NewRule
from openstack_emulator.share.rules.shares import Shares

SINCE_IPV6 = (2, 38)
LEVELS = ("rw", "ro")
_USER = re.compile(r"[\w.\-$ \\{}\[\];'`]{4,255}", re.ASCII)
_CEPHX = re.compile(r"[A-Za-z0-9_.=-]+")


def check_target(kind: str, target: str, version: Version) -> None:
    """Refuse a rule for somebody who cannot be one. Raises ApiError 400."""
    if kind == "ip":
        _check_address(target, version)
    elif kind == "user":
        if _USER.fullmatch(target.strip()) is None:
            raise bad_request(
                "Invalid user or group name. Must be 4-255 characters and consist of alphanumeric "
                "characters and special characters ]{.-_'`;}[\\"
            )
    elif kind == "cert":
        if not 0 < len(target.strip()) <= 64:
            raise bad_request("Invalid CN (common name). Must be 1-64 chars long")
    elif kind == "cephx":
        if _CEPHX.fullmatch(target.strip()) is None or target.startswith("client."):
            raise bad_request("Invalid Ceph ID: it must consist of letters, digits, '_', '.', '=' and '-'.")
    else:
        raise bad_request("Only 'ip', 'user', 'cert' or 'cephx' access types are supported.")


def _check_address(target: str, version: Version) -> None:
    try:
        (ip_network if version >= SINCE_IPV6 else IPv4Network)(target.strip(), strict=False)
    except ValueError as error:
        raise bad_request(str(error)) from None


def _same(kind: str, one: str, other: str) -> bool:
    """Whether two rules are for the same clients: an address is a network of one."""
    if kind == "ip":
        return ip_network(one, strict=False) == ip_network(other, strict=False)
    return one == other


class AccessRules(Rules):
    """The access rules of shares.

    rows: the table of rules.
    """

    def __init__(self, records: Records, rows: Table[AccessRule], shares: Shares) -> None:
        super().__init__(records)
        self.rows = rows
        self.shares = shares
        records.deferrable(self.finish_allowing, self.finish_denying)

    def allow(self, share: Share, new_rule: NewRule, version: Version) -> AccessRule:
        """Begin to allow somebody the use of a share; 400 for an invalid rule, one that it has, or another status."""
        check_target(new_rule.access_type, new_rule.access_to, version)
        level = new_rule.access_level or LEVELS[0]
        if level not in LEVELS:
            raise bad_request(f"Invalid access rule: Invalid share access level: {level}.")
        self.shares.require_status(share, "available")
        target = new_rule.access_to.strip()
        present = self.rows.select(share_id=share.id, access_type=new_rule.access_type)
        if any(_same(new_rule.access_type, rule.access_to, target) for rule in present):
            raise bad_request(f"Share access {new_rule.access_type}:{target} exists.")
        rule = self.rows.add(
            AccessRule(
                id=new_id(),
                share_id=share.id,
                access_type=new_rule.access_type,
                access_to=target,
                access_level=level,
                access_key=None,
                state="queued_to_apply",
                metadata=new_rule.metadata,
                created_at=self.moment(),
                updated_at=None,
            )
        )
        self.after(LONG, self.finish_allowing, rule.id)
        return rule

    def finish_allowing(self, rule_id: str) -> None:
        rule = self.rows.get(rule_id)
        if rule is not None and rule.state == "queued_to_apply":
            self._set_state(rule, "error" if rule.take_fault() is not None else "active")

    def _set_state(self, rule: AccessRule, state: str) -> None:
        rule.state = state
        self.save(rule)

    def save(self, rule: AccessRule) -> None:
        """Note that a rule was changed now."""
        rule.updated_at = self.moment()
        self.rows.save(rule)

    def of(self, share: Share) -> list[AccessRule]:
        """The rules of a share."""
        return self.rows.select(share_id=share.id)

    def find(self, context: Context, rule_id: str) -> AccessRule:
        """A rule of a share of the caller; 404 for others."""
        rule = self.rows.require(rule_id)
        if not context.may_see(self.shares.rows.require(rule.share_id)):
            raise self.rows.missing(rule_id)
        return rule

    def deny(self, share: Share, rule_id: str) -> None:
        """Begin to remove a rule of a share; 404 for one that it does not have."""
        rule = self.rows.get(rule_id)
        if rule is None or rule.share_id != share.id:
            raise self.rows.missing(rule_id)
        self._set_state(rule, "queued_to_deny")
        self.after(SHORT, self.finish_denying, rule_id)

    def finish_denying(self, rule_id: str) -> None:
        rule = self.rows.get(rule_id)
        if rule is None or rule.state != "queued_to_deny":
            return
        if rule.take_fault() is not None:
            self._set_state(rule, "error")
        else:
            self.rows.remove(rule)

    def status_of(self, share: Share) -> str:
        """The state of all rules of a share: `access_rules_status`."""
        states = {rule.state for rule in self.of(share)}
        if "error" in states:
            return "error"
        return "active" if states <= {"active"} else "syncing"
