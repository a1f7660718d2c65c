"""Signed URLs, with which others can use a queue without a token."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.messaging.records import ServiceState

_FORM = "%Y-%m-%dT%H:%M:%S"
_VALID = timedelta(days=1)


@dataclass(frozen=True)
class SignedUrl:
    """What a signed URL allows: methods on paths and those below them, until a time (in UTC), for a project."""

    paths: Sequence[str]
    methods: Sequence[str]
    expires: str
    project: str
    signature: str


class Signatures(Rules):
    """Makes and examines signed URLs. own: the table with the secret key, which is made when it is first needed."""

    def __init__(self, records: Records, own: Table[ServiceState]) -> None:
        super().__init__(records)
        self._own = own

    def sign(self, project_id: str, paths: Sequence[str], methods: Sequence[str], expires: object) -> SignedUrl:
        """Sign a URL; without an end, it is valid for a day. Raises ApiError 400 for an end that has passed."""
        now = self.records.now()
        end = str(expires or (now.replace(tzinfo=None, microsecond=0) + _VALID).strftime(_FORM))
        if _moment(end) <= now:
            raise bad_request("The time at which the URL expires has passed.")
        return SignedUrl(paths, methods, end, project_id, self._signature(paths, methods, project_id, end))

    def allows(self, url: SignedUrl, method: str, path: str) -> bool:
        """Whether a URL is of this service, and allows a request now. Raises ApiError 400 for an unreadable end."""
        signature = self._signature(url.paths, url.methods, url.project, url.expires)
        good = hmac.compare_digest(signature, url.signature)
        covered = any(path == prefix or path.startswith(f"{prefix}/") for prefix in url.paths)
        return good and covered and method in url.methods and _moment(url.expires) > self.records.now()

    def _signature(self, paths: Sequence[str], methods: Sequence[str], project_id: str, expires: str) -> str:
        text = "\n".join((",".join(paths), ",".join(methods), project_id, expires))
        known = self._own.get("signing") or self._own.add(ServiceState(id="signing", number=0, key=new_id()))
        return hmac.new(known.key.encode(), text.encode(), sha256).hexdigest()


def _moment(text: str) -> datetime:
    """A time as clients write it, in UTC unless it says otherwise; 400 for what is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise bad_request(f"Unable to parse date string {text!r}") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
