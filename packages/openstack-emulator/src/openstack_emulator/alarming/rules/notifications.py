"""The actions of alarms: web hooks, with or without a token of a trust, messages in queues, lines in the log."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit
from uuid import uuid4

from openstack_emulator.alarming.records import Alarm
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request
from openstack_emulator.core.posting import Poster
from openstack_emulator.core.rules import Rules
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.service_trusts import end_trust, token_of, trust_for
from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.messaging.rules.inputs import NewMessage

log = logging.getLogger(__name__)

TRUST = "trust+"
_WITH_USER = re.compile(r"^(trust\+[^:/?#]+://)[^/?#]*@", re.IGNORECASE)
SERVICE_USER = "aodh"
MESSAGE_TTL = 3600


class Notifier(Rules):
    """Calls actions. A URL with a trust is kept as `trust+http://<trust>:delete@host/path`, and shown without it, as
    Aodh does; the trust is deleted with the action.
    """

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self._poster = Poster("aodh-actions", self.cloud.request_sender)

    def call_actions(self, urls: Sequence[str], alarm: Alarm, notification: dict[str, Any]) -> None:
        """Call each action with a notification; a failure is logged and does not prevent the others."""
        for url in urls:
            try:
                self._call(url, alarm, notification)
            except ApiError as error:
                log.warning("An action of alarm %s cannot be called: %s", alarm.id, error.message)

    def _call(self, url: str, alarm: Alarm, notification: dict[str, object]) -> None:
        parts = urlsplit(url)
        scheme = parts.scheme.removeprefix(TRUST)
        if scheme in ("http", "https"):
            token = token_of(self.cloud, parts.username or "") if parts.scheme.startswith(TRUST) else None
            host = parts.netloc.rpartition("@")[2] if token else parts.netloc
            headers = {"Content-Type": "application/json", **({"X-Auth-Token": token} if token else {})}
            address = urlunsplit((scheme, host, parts.path, parts.query, parts.fragment))
            self._poster.post(address, json.dumps(notification).encode(), headers)
        elif scheme == "zaqar" and self.cloud.has(Messaging):
            name = parse_qs(parts.query).get("queue_name", [""])[0]
            message = NewMessage(body=notification, ttl=MESSAGE_TTL)
            self.cloud.of(Messaging).messages.post(alarm.project_id, name, str(uuid4()), [message])
        else:
            log.info("Alarm %s: %s", alarm.id, notification)

    def with_trusts(self, urls: Sequence[str], request: Request, present: Sequence[str] = ()) -> list[str]:
        """An alarm's actions with trusts of the caller in those that need one.

        present: actions that the alarm has, with their trusts; those that are the same without trusts keep them.

        Raises: Keystone's ApiError; ApiError 401 for an action that names another user's trust.
        """
        known = {without_trust(url): url for url in reversed(present)}
        return [known.get(url) or self._with_trust(url, request) for url in urls]

    def _with_trust(self, url: str, request: Request) -> str:
        parts = urlsplit(url)
        if not parts.scheme.startswith(TRUST):
            return url
        if parts.username:
            self._require_own(parts.username, url, request)
            return url
        return urlunsplit(parts._replace(netloc=f"{self._trust(request)}@{parts.netloc}"))

    def _require_own(self, trust_id: str, url: str, request: Request) -> None:
        """Refuse a trust of another user: the action would get a token of that user."""
        trust, caller = self.cloud.of(Identity).delegations.trusts.rows.get(trust_id), request.context
        own = trust is not None and (trust.trustor_user_id, trust.project_id) == (caller.user_id, caller.project)
        if not own and trust_id != caller.trust_id:
            raise ApiError(401, f"You are not authorized to create action: {without_trust(url)}")

    def _trust(self, request: Request) -> str:
        """The user part of the URL. A caller who acts through a trust uses that one, which is not deleted."""
        trust, is_new = trust_for(self.cloud, request, SERVICE_USER)
        return f"{trust}:delete" if is_new else trust

    def end_trusts(self, urls: Sequence[str]) -> None:
        """Delete the trusts of actions that an alarm no longer has."""
        for parts in map(urlsplit, urls):
            if parts.scheme.startswith(TRUST) and parts.password == "delete":  # noqa: S105  a marker, not a secret
                end_trust(self.cloud, parts.username or "")


def without_trust(url: str) -> str:
    """An action as clients see it."""
    return _WITH_USER.sub(r"\1", url)
