"""Sessions of the console, kept in an encrypted cookie that scripts cannot read.

The cookie has the user's token, so that any API process can serve any request without shared storage.
"""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http.cookies import CookieError, SimpleCookie

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from stoker.console.settings import PREFIX

COOKIE = "stoker_console"
_LARGEST_COOKIE = 4000
"""Bytes; browsers discard cookies of more than 4096 bytes with their attributes."""

_KEPT_SECONDS = 3600.0
"""How long a form can be continued after a log-in."""


class SessionTooLarge(Exception):
    """The token does not fit into a cookie."""


@dataclass(frozen=True, slots=True)
class Session:
    """Who is logged in, and until when (seconds since 1970). `csrf` is the value that every form must contain."""

    token: str
    user: str
    project: str
    project_id: str
    expires: float
    csrf: str

    @classmethod
    def begin(cls, token: str, user: str, project: str, project_id: str, expires: float) -> Session:
        """Return a new session."""
        return cls(token, user, project, project_id, expires, secrets.token_urlsafe(24))

    def accepts(self, value: str) -> bool:
        """Return whether a form with this value was made for this session."""
        return hmac.compare_digest(value.encode(), self.csrf.encode())


class SessionCookies:
    """Encrypts and decrypts sessions; `keys` as in ConsoleSettings."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._cookies = _cipher(keys, b"stoker.console.session")
        self._seals = _cipher(keys, b"stoker.console.form")
        self._forms = _cipher(keys, b"stoker.console.kept")
        self._ended: dict[str, float] = {}
        self._lock = threading.Lock()

    def set_cookie(self, session: Session, now: float, *, secure: bool) -> str:
        """Return the header `Set-Cookie` that begins a session. Raises SessionTooLarge."""
        value = self._cookies.encrypt(json.dumps(asdict(session)).encode()).decode()
        if len(value) > _LARGEST_COOKIE:
            raise SessionTooLarge
        return _header(value, int(session.expires - now), secure)

    def read(self, header: str, now: float) -> Session | None:
        """Return the session in the header `Cookie`; None if there is none that is valid at `now`."""
        try:
            morsel = SimpleCookie(header).get(COOKIE)
            data = None if morsel is None else self._cookies.decrypt(morsel.value.encode())
        except (CookieError, InvalidToken, UnicodeEncodeError):
            return None
        if data is None:
            return None
        try:
            session = Session(**json.loads(data))
        except (TypeError, ValueError):  # of another release
            return None
        return session if now < session.expires and session.csrf not in self._ended else None

    def seal(self, session: Session, text: str) -> str:
        """Return a secret of a session in encrypted form, for a field of a form."""
        content = [session.csrf, session.user, session.project_id, text]
        return self._seals.encrypt(json.dumps(content).encode()).decode()

    def unseal(self, session: Session, sealed: str, former: str = "") -> str:
        """Return the secret that `seal` has encrypted in this session; an empty string for anything else.

        `former` is the value `csrf` of an earlier session of the same user in the same project, which also counts.
        """
        try:
            owner, user, project_id, text = json.loads(self._seals.decrypt(sealed.encode()))
        except (InvalidToken, ValueError):
            return ""
        accepted = session.accepts(owner) or (bool(former) and hmac.compare_digest(former.encode(), owner.encode()))
        return str(text) if accepted and (user, project_id) == (session.user, session.project_id) else ""

    def keep(self, form: Mapping[str, list[str]], now: float) -> str:
        """Return a form in encrypted form, to be continued after a log-in."""
        return self._forms.encrypt(zlib.compress(json.dumps([now, form]).encode())).decode()

    def kept(self, text: str, now: float) -> dict[str, list[str]]:
        """Return the form that `keep` has encrypted; an empty one for anything else, and after an hour."""
        try:
            since, form = json.loads(zlib.decompress(self._forms.decrypt(text.encode())))
        except (InvalidToken, ValueError):
            return {}
        return dict(form) if now - since < _KEPT_SECONDS else {}

    def end(self, session: Session, now: float) -> None:
        """Refuse a session from now on, in this process; others do when they notice that its token is revoked."""
        with self._lock:
            unexpired = {key: expires for key, expires in self._ended.items() if expires > now}
            self._ended = {**unexpired, session.csrf: session.expires}


def end_cookie(*, secure: bool) -> str:
    """Return the header `Set-Cookie` that ends the session."""
    return _header("", 0, secure)


def _header(value: str, seconds: int, secure: bool) -> str:
    last = "; Secure" if secure else ""
    return f"{COOKIE}={value}; Path={PREFIX}; Max-Age={seconds}; HttpOnly; SameSite=Strict{last}"


def _cipher(keys: Sequence[str], purpose: bytes) -> MultiFernet:
    """Return a cipher for one purpose: what is encrypted for another one cannot be decrypted with it."""
    derived = (hmac.digest(key.encode(), purpose, "sha256") for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])
