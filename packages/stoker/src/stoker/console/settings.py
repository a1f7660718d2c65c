"""The settings of the console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PREFIX = "/console"
"""The path of all pages; cookies are limited to it."""


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """`auth_url` is the identity service for logging in, `verify` how its certificate is checked (see requests).

    `keys` encrypt sessions: the first one new sessions, the others those of before a rotation. A session ends after
    `session_seconds`, or earlier with its token. `login_attempts` failures within `login_window` seconds, from one
    address or for one user, are allowed. `largest_body` is the largest request in bytes. `login_hint` is what the page
    for logging in says, `horizon_url` the address of Horizon; both may be empty.
    """

    auth_url: str
    keys: Sequence[str]
    verify: bool | str = True
    session_seconds: float = 28_800.0
    login_attempts: int = 10
    login_window: float = 300.0
    largest_body: int = 1_048_576
    login_hint: str = ""
    horizon_url: str = ""
