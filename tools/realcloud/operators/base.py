"""Stacks that a part of the run needs, and the end of operations on stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tools.conformance.place import HIDDEN_TAG
from tools.realcloud.engine import Stacks

BASE = Path(__file__).with_name("base.yaml")


class Unexpected(Exception):
    """An operation has ended otherwise than it should."""


def expect(stacks: Stacks, stack: str, expected: str, seconds: float = 300.0) -> None:
    """Wait until the operation on a stack has ended. Raises Unexpected for another status, and Stuck."""
    status, reason = stacks.ended(stack, seconds)
    if status != expected:
        raise Unexpected(f"{status}: {reason}")


def deleted(stacks: Stacks, stack: str) -> None:
    """Delete a stack. Raises Unexpected when it has failed, even if it is gone after further attempts, and Stuck."""
    status, reason = stacks.delete(stack)
    if status != "DELETE_COMPLETE":
        raise Unexpected(f"{status}: {reason}")


@contextmanager
def deployed(
    stacks: Stacks,
    name: str,
    template: Mapping[str, Any],
    files: Mapping[str, str] | None = None,
    **options: Any,
) -> Iterator[str]:
    """Deploy a stack, yield its path, and delete it in the end. `options` are further keys of the request."""
    stack = stacks.create(name, template, files or {}, **options)
    try:
        expect(stacks, stack, "CREATE_COMPLETE")
        yield stack
    finally:
        deleted(stacks, stack)


@contextmanager
def networked(stacks: Stacks) -> Iterator[None]:
    """Give the project a key pair, named like it, and the network `private` with a router to the network `public`.

    The stack is not in lists.
    """
    template = yaml.safe_load(BASE.read_text(encoding="utf-8"))
    values = {"key_name": stacks.account.auth["project_name"]}
    with deployed(stacks, "op-base", template, parameters=values, tags=HIDDEN_TAG):
        yield
