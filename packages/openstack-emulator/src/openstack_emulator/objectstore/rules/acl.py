"""Who may read and write a container besides its owner: the `X-Container-Read` and `-Write` headers."""

from __future__ import annotations

from openstack_emulator.core.http import Context
from openstack_emulator.core.urls import split_url
from openstack_emulator.objectstore.rules.errors import explained

REFERRER_WORDS = frozenset({".r", ".ref", ".referer", ".referrer"})


def clean(header: str, value: str) -> str:
    """The list in Swift's own spelling; 400 when it makes no sense. Entries without a colon are not checked."""
    entries = []
    for entry in filter(None, (part.strip() for part in value.split(","))):
        word, colon, rest = (part.strip() for part in entry.partition(":"))
        if not colon or not word.startswith("."):
            entries.append(f"{word}:{rest}" if colon else entry)
        elif word in REFERRER_WORDS and rest.strip("-"):
            if header == "x-container-write":
                raise explained(400, f"Referrers not allowed in write ACL: {entry!r}")
            entries.append(f".r:{rest}")
        else:
            raise explained(400, f"{header} : Unknown designator {word!r} in ACL: {entry!r}")
    return ",".join(entries)


def admits(acl: str, caller: Context | None) -> bool:
    """Whether the list names the caller: by project and user (ids, names or `*`), or by role."""
    if caller is None:
        return False
    projects = {"*", caller.project_id, caller.project_name}
    users = {"*", caller.user_id, caller.user_name}
    for entry in filter(None, acl.split(",")):
        project, colon, user = entry.partition(":")
        if project == ".r":
            continue
        if (project in projects and user in users) if colon else entry in caller.roles:
            return True
    return False


def is_public(acl: str, referrer: str) -> bool:
    """Whether objects may be read without a token from this referring page; the last entry that fits decides."""
    host = split_url(referrer).hostname or ""
    allowed = False
    for entry in acl.split(","):
        if entry.startswith(".r:"):
            pattern = entry.removeprefix(".r:")
            if pattern.startswith("-"):
                allowed = allowed and not _fits(pattern[1:], host)
            else:
                allowed = allowed or _fits(pattern, host)
    return allowed


def lists_publicly(acl: str) -> bool:
    """Whether the list permits to list the container without a token, to those who may read its objects."""
    return ".rlistings" in acl.split(",")


def _fits(pattern: str, host: str) -> bool:
    return pattern == "*" or pattern == host or (pattern.startswith(".") and host.endswith(pattern))
