"""Which share of the threads a request uses: that of its project, once it is known who sent it.

What a client writes into a request decides nothing: neither its path nor its headers. A request with a token that has
been accepted before begins in the share of the token's project. Any other one begins among the strangers, who have few
threads together and take turns by address, and moves to the share of its project when its caller has been identified:

    stoker.api.auth.identified(environ, project_id, user_id)

The application calls this before anything has an effect, since a request that moves begins again.
"""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

TURN = "stoker.turn"
"""Key of the environment: the `Turn` of the request. Other servers do not set it, and have a fairness of their own."""

_MOST_KNOWN = 8192
_CREDENTIALS = (b"x-auth-token", b"cookie")


class Share(NamedTuple):
    """What takes turns with others of its kind: a project or a user without one, or the address of a stranger."""

    identified: bool
    name: str


class MovedToShare(BaseException):
    """The request continues, from its beginning, in another share.

    Not an `Exception`, so that only the server handles it.
    """


class Turn:
    """The share of one request. `kept` is what it need not compute again when it begins again."""

    def __init__(self, share: Share) -> None:
        self.share = share
        self.identity: Share | None = None
        self.kept: dict[str, Any] = {}

    def claim(self, share: Share) -> None:
        """Continue in a share. Raises MovedToShare when that is not the current one."""
        if self.identity is None:
            self.identity = share
            if self.share != share:
                self.share = share
                raise MovedToShare


def kept(environ: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request keeps when it begins again; a change is for the request only."""
    turn = environ.get(TURN)
    return {} if turn is None else turn.kept


def address_share(address: str) -> Share:
    """Return the share of an address; that of IPv6 is of a network of 64 bits, all of which one client may have."""
    if ":" in address:
        try:
            address = str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
        except ValueError:
            return Share(False, address)
    return Share(False, address)


class CallerShares:
    """The shares of credentials that were accepted, as digests. Thread-safe.

    This only chooses where a request begins: a request in the wrong share moves. Beyond the limit, the share that has
    most credentials forgets its oldest one, so that nobody can drive out those of others.
    """

    def __init__(self, limit: int = _MOST_KNOWN) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._shares: dict[bytes, Share] = {}
        self._digests: dict[Share, OrderedDict[bytes, None]] = {}

    def of(self, credential: bytes) -> Share | None:
        """Return the share of a credential; None for an unknown one."""
        with self._lock:
            return self._shares.get(credential)

    def remember(self, credential: bytes, share: Share) -> None:
        """Record that the credential of a share has been accepted."""
        with self._lock:
            if self._shares.get(credential) == share:
                return
            self._forget(credential)
            self._shares[credential] = share
            self._digests.setdefault(share, OrderedDict())[credential] = None
            if len(self._shares) > self._limit:
                largest = max(self._digests.values(), key=len)
                self._forget(next(iter(largest)))

    def forget(self, credential: bytes) -> None:
        """Record that a credential has been refused."""
        with self._lock:
            self._forget(credential)

    def _forget(self, credential: bytes) -> None:
        share = self._shares.pop(credential, None)
        if share is not None:
            del self._digests[share][credential]
            if not self._digests[share]:
                del self._digests[share]


def credential_of(headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return the digest of a request's token, or of its cookies; empty for a request without them."""
    found = dict(headers)
    for name in _CREDENTIALS:
        if value := found.get(name):
            return blake2b(value, digest_size=16, person=name).digest()
    return b""
