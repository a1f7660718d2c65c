"""The names in the paths of requests."""

from __future__ import annotations

from openstack_emulator.core.http import Request


def account_of(request: Request) -> str:
    """The name of the account."""
    return request.vars["account"]


def container_of(request: Request) -> str:
    """The name of the container."""
    return request.vars["container"]


def object_of(request: Request) -> str:
    """The name of the object."""
    return request.vars["object"]


def place_of(request: Request) -> tuple[str, str, str]:
    """The names of the account, the container and the object."""
    return account_of(request), container_of(request), object_of(request)
