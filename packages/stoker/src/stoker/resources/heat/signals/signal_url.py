"""URLs to which signals are sent."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import quote, unquote, urlencode, urlsplit

from stoker.plugins.resource import Call
from stoker.resources.heat.users.stack_user import user_project

_WAIT_CONDITION = "/waitcondition"


@dataclass(frozen=True, slots=True)
class SignalRoute:
    """A kind of signal of the CloudFormation API."""

    path: str
    method: str


SIGNAL = SignalRoute("/signal", "POST")
WAIT_CONDITION = SignalRoute(_WAIT_CONDITION, "PUT")


def orchestration_url(call: Call) -> str:
    """Return the resource's signal URL in the Orchestration API, with the project of the stack's users."""
    return _signal_url(call, user_project(call))


def owner_url(call: Call) -> str:
    """Return the resource's signal URL in the Orchestration API, for users with a token of the stack's project."""
    return _signal_url(call, call.stack.project_id)


def _signal_url(call: Call, project: str) -> str:
    root = call.cloud.endpoint("heat").removesuffix(f"/{call.cloud.project_id}")
    stack = f"stacks/{quote(call.url_stack.name, safe='')}/{call.url_stack.id}"
    return f"{root}/{project}/{stack}/resources/{quote(call.url_name, safe='')}/signal"


def signed_url(call: Call, route: SignalRoute, *, since: float | None = None) -> str:
    """Return the resource's signal URL in the CloudFormation API, signed with the key pair of the resource's user.

    With `since` (seconds since the epoch) the signature expires some time after it; without, it does not expire.
    """
    configured = call.stack.options.get("heat_waitcondition_server_url")
    endpoint = configured or f"{call.cloud.endpoint('heat-cfn')}{_WAIT_CONDITION}"
    base = endpoint.replace(_WAIT_CONDITION, route.path).lower()
    path = quote(f"/{call.url_stack.arn}/resources/{call.url_name}")
    # The order of the parameters is that of Heat's URLs: a policy that was taken over shows the URL that it had there.
    parameters = {
        "SignatureMethod": "HmacSHA256",
        "SignatureVersion": "2",
        "AWSAccessKeyId": call.data["access_key"],
    }
    if since is not None:
        parameters["Timestamp"] = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    place = urlsplit(base)
    parameters["Signature"] = signature(
        call.data["secret_key"], route.method, place.netloc, place.path + unquote(path), parameters
    )
    return f"{base}{path}?{urlencode(parameters)}"


def signature(secret: str, method: str, host: str, path: str, parameters: Mapping[str, str]) -> str:
    """Return the signature of an AWS query request, signature version 2."""
    query = "&".join(f"{quote(key, safe='')}={quote(value, safe='-_~')}" for key, value in sorted(parameters.items()))
    message = f"{method}\n{host}\n{path}\n{query}"
    return base64.b64encode(hmac.digest(secret.encode(), message.encode(), sha256)).decode()
