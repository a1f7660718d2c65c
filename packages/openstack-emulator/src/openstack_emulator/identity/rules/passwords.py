"""Password hashes of the emulator's users.

PBKDF2 with few rounds: these accounts guard a throw-away cloud, tests log in thousands of times, and a hash is
kept only so that a state file does not show passwords. It is no protection of a password that is used elsewhere.
"""

from __future__ import annotations

import secrets
from hashlib import pbkdf2_hmac

ROUNDS = 500
_NOBODY = "0" * 32 + "$" + "0" * 64


def hash_password(password: str) -> str:
    """`<salt>$<hash>` in hex."""
    salt = secrets.token_hex(16)
    return f"{salt}${_derive(password, salt)}"


def verify_password(password: str, stored: str | None) -> bool:
    """Whether it is the password; takes as long when there is none stored, so that user names do not leak."""
    salt, _, digest = (stored or _NOBODY).partition("$")
    same = secrets.compare_digest(_derive(password, salt), digest)
    return same and stored is not None


def _derive(password: str, salt: str) -> str:
    return pbkdf2_hmac("sha256", password.encode(), bytes.fromhex(salt), ROUNDS).hex()
