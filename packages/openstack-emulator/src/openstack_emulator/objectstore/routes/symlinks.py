"""Objects that stand for others: `X-Symlink-Target`."""

from __future__ import annotations

import dataclasses
from urllib.parse import unquote

from openstack_emulator.core.http import Request
from openstack_emulator.objectstore.records import Link, StoredObject
from openstack_emulator.objectstore.routes.access import require_reading
from openstack_emulator.objectstore.routes.temp_url import is_signed
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.inputs import NewObject

MOST_LINKS = 2
TARGET, TARGET_ACCOUNT, TARGET_HASH = "x-symlink-target", "x-symlink-target-account", "x-symlink-target-etag"
LINK_TYPE = "application/symlink"


def linking(swift: ObjectStore, request: Request, account: str, new: NewObject) -> NewObject:
    """A new object that is a link, if its headers say so.

    Raises: ApiError 400 for a body, 412 for a target that is no path, 409 when a target with a hash is missing or has
    another one.
    """
    if (target := request.headers.get(TARGET)) is None:
        return new
    container, slash, name = unquote(target).lstrip("/").partition("/")
    if not container or not slash or not name:
        raise explained(412, "X-Symlink-Target header must be of the form <container name>/<object name>")
    if request.body:
        raise explained(400, "Symlink requests require a zero byte body")
    holder = unquote(request.headers.get(TARGET_ACCOUNT, account))
    expected = request.headers.get(TARGET_HASH)
    link = Link(
        account=holder, container=container, object=name, hash=None if expected is None else expected.strip('"')
    )
    if link.hash is not None:
        _check_target(_target(swift, link), link.hash)
    return dataclasses.replace(new, symlink=link, content_type=request.headers.get("content-type") or LINK_TYPE)


def followed(swift: ObjectStore, request: Request, account: str, stored: StoredObject) -> tuple[str, StoredObject]:
    """The account and the object that an object stands for in the end: itself when it is no link, or when the query
    has `symlink=get`.

    Raises: ApiError 401 or 403 where the caller may not read, 404 for a missing target, 409 after too many links or
    when the target has changed from what the link says.
    """
    if request.query.get("symlink") == "get":
        return account, stored
    links = 0
    while (link := stored.symlink) is not None:
        links += 1
        if links > MOST_LINKS:
            raise explained(409, f"Too many levels of symbolic links, maximum allowed is {MOST_LINKS}")
        if link.account != account or not is_signed(request):
            require_reading(swift, request, link.account, link.container)
        account = link.account
        stored = swift.objects.require(swift.containers.require(account, link.container), link.object)
        if link.hash is not None and stored.symlink is None:
            _check_target(stored, link.hash)
    return account, stored


def _target(swift: ObjectStore, link: Link) -> StoredObject | None:
    container = swift.containers.find(link.account, link.container)
    return None if container is None else swift.objects.find(container, link.object)


def _check_target(target: StoredObject | None, expected: str) -> None:
    if target is None:
        raise explained(409, "X-Symlink-Target does not exist")
    if target.hash != expected:
        raise explained(409, f"Object Etag {target.hash!r} does not match X-Symlink-Target-Etag header {expected!r}")
