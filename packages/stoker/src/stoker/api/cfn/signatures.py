"""Parse the signatures of requests, and refuse requests that a valid signature does not make acceptable.

Only the identity service knows the secrets, so it verifies the signatures themselves (`stoker.api.cfn.identity`). This
module refuses requests that are old, that were signed for another service or region, or that are signed twice in
different ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from stoker.api.cfn.faults import QueryError

SKEW = 900.0
"""Maximum difference in seconds between a request's time and that of the server, as in AWS and Keystone."""

LONGEST = 604800
"""Maximum value in seconds of X-Amz-Expires, as in AWS. SKEW also limits the age of a request."""

_ALGORITHM = "AWS4-HMAC-SHA256"
_SERVICE = "cloudformation"
_TERMINATOR = "aws4_request"
_TIMES = ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%S", "%Y%m%dT%H%M%SZ")
_PARTS = ("Credential", "SignedHeaders", "Signature")


@dataclass(frozen=True)
class Received:
    """A request as it was signed: `params` are the signed ones, `headers` have names like `X-Amz-Date`."""

    verb: str
    host: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Signed:
    """A request with its signature.

    `time` is the declared time of the signature, or None; `expires` is the number of seconds for which a presigned URL
    is declared valid (X-Amz-Expires).
    """

    received: Received
    access: str
    signature: str = field(repr=False)
    time: float | None
    params: Mapping[str, str]
    expires: float | None = None

    def credentials(self) -> dict[str, object]:
        """Return the data that Keystone's `POST /v3/ec2tokens` needs to verify the signature."""
        return {
            "access": self.access,
            "signature": self.signature,
            "host": self.received.host,
            "verb": self.received.verb,
            "path": self.received.path,
            "params": dict(self.params),
            "headers": dict(self.received.headers),
            "body_hash": sha256(self.received.body).hexdigest(),
        }


def read_signature(received: Received, region: str | None) -> Signed:
    """Return the request's signature, of version 2 or 4. `region` is that of the server; None accepts any.

    Raises QueryError for no signature, more than one, or one for another service or region.
    """
    header = received.headers.get("Authorization", "")
    params = received.params
    kinds = [header != "", "X-Amz-Algorithm" in params, "SignatureVersion" in params or "AWSAccessKeyId" in params]
    if not any(kinds):
        raise QueryError("MissingAuthenticationToken", "The request is not signed with an access key.")
    if sum(kinds) > 1:
        raise QueryError("IncompleteSignature", "The request has more than one signature.")
    return _version_2(received) if kinds[2] else _version_4(received, region)


def require_fresh(signed: Signed, now: float) -> None:
    """Raise QueryError for a request without the time of its signature, or with an expired one."""
    if signed.time is None:
        raise QueryError(
            "IncompleteSignature", "The request must have the time of its signature: Timestamp or X-Amz-Date."
        )
    if signed.expires is not None and now > signed.time + signed.expires:
        raise QueryError(
            "RequestExpired",
            f"The URL was valid for {signed.expires:.0f} seconds (X-Amz-Expires); sign a new one.",
        )
    if abs(now - signed.time) > SKEW:
        raise QueryError(
            "RequestExpired",
            f"The request was signed {abs(now - signed.time):.0f} seconds {'ago' if signed.time < now else 'ahead'}; "
            f"at most {SKEW:.0f} are accepted. Check the clock, and sign each request separately.",
        )


def refused(error: QueryError, signed: Signed, now: float) -> QueryError:
    """Return the error for a signature that the identity service does not accept; it does not say why.

    Signatures of signals are not checked for their age here: only the operator of the identity service knows how long
    it accepts them ([credential] auth_ttl of Keystone).
    """
    age = now - signed.time if signed.time is not None else 0.0
    if error.code != "SignatureDoesNotMatch" or age <= SKEW:
        return error
    return QueryError(
        "RequestExpired",
        f"The signed URL has expired: it was signed {age:.0f} seconds ago, and the identity service accepts it for a "
        f"limited time (by default {SKEW:.0f} seconds, [credential] auth_ttl of Keystone). Replace the resource to get "
        "a new URL, for example by marking it unhealthy and updating the stack.",
    )


def _version_2(received: Received) -> Signed:
    params = received.params
    if params.get("SignatureVersion") != "2" or params.get("SignatureMethod", "HmacSHA256") != "HmacSHA256":
        raise QueryError(
            "IncompleteSignature", "Only signature version 4, and version 2 with HmacSHA256, are supported."
        )
    timestamp = params.get("Timestamp")
    return Signed(
        received=received,
        access=_present(params, "AWSAccessKeyId"),
        signature=_present(params, "Signature"),
        time=None if timestamp is None else _time(timestamp),
        params={name: value for name, value in params.items() if name != "Signature"},
    )


def _version_4(received: Received, region: str | None) -> Signed:
    in_query = "X-Amz-Algorithm" in received.params
    parts = _from_query(received.params) if in_query else _from_header(received.headers["Authorization"])
    date = received.params.get("X-Amz-Date") if in_query else received.headers.get("X-Amz-Date")
    if date is None:
        raise QueryError("IncompleteSignature", "A request signed with version 4 must have X-Amz-Date.")
    access = _scoped(parts["Credential"], date, region, received.host)
    _require_signed_headers(received.headers, parts["SignedHeaders"])
    params = {name: value for name, value in received.params.items() if name != "X-Amz-Signature"}
    return Signed(
        received=received,
        access=access,
        signature=parts["Signature"],
        time=_time(date),
        # A form in the body is signed by the hash of the body; only parameters in the URL are signed as parameters.
        params={} if received.verb == "POST" else params,
        expires=_expires(received.params) if in_query else None,
    )


def _expires(params: Mapping[str, str]) -> float | None:
    seconds = params.get("X-Amz-Expires")
    if seconds is None:
        return None
    if not (seconds.isascii() and seconds.isdigit() and 0 < len(seconds) < 7 and 0 < int(seconds) <= LONGEST):
        raise QueryError("IncompleteSignature", f"X-Amz-Expires must be a number of seconds from 1 to {LONGEST}.")
    return float(seconds)


def _from_query(params: Mapping[str, str]) -> dict[str, str]:
    if params["X-Amz-Algorithm"] != _ALGORITHM:
        raise QueryError("IncompleteSignature", f"X-Amz-Algorithm must be {_ALGORITHM}.")
    return {name: _present(params, f"X-Amz-{name}") for name in _PARTS}


def _from_header(header: str) -> dict[str, str]:
    algorithm, _, rest = header.strip().partition(" ")
    pairs = [part.strip().partition("=") for part in rest.split(",")]
    parts = {name: value for name, _, value in pairs}
    if algorithm != _ALGORITHM or len(parts) != len(pairs) or not all(parts.get(name) for name in _PARTS):
        raise QueryError(
            "IncompleteSignature", f"Authorization must be {_ALGORITHM} with Credential, SignedHeaders and Signature."
        )
    return parts


def _scoped(credential: str, date: str, region: str | None, host: str) -> str:
    """Return the access key of a credential for this service, this region and this day.

    Clients without a table of endpoints, such as boto 2 in heat-cfntools, take service and region from the labels of
    the host name, which is signed too and therefore also identifies the target of the request.
    """
    access, *scope = credential.split("/")
    if not access or len(scope) != 4 or scope[3] != _TERMINATOR:
        raise QueryError(
            "IncompleteSignature", "Credential must be <access key>/<date>/<region>/<service>/aws4_request."
        )
    if scope[0] != date[:8]:
        raise QueryError("SignatureDoesNotMatch", "The date in the credential is not that of X-Amz-Date.")
    if scope[2] != _SERVICE:
        label = host.partition(":")[0].partition(".")[0]
        if not label or scope[2] != label:
            raise QueryError("SignatureDoesNotMatch", f"The credential must be for the service {_SERVICE}.")
    elif region is not None and scope[1] != region:
        raise QueryError("SignatureDoesNotMatch", f"The credential must be for the region {region}.")
    return access


def _require_signed_headers(headers: Mapping[str, str], names: str) -> None:
    signed = set(names.lower().split(";"))
    needed = {"host"} | {name.lower() for name in headers if name.startswith("X-Amz-")}
    if missing := sorted(needed - signed):
        raise QueryError("IncompleteSignature", f"The signature must cover the headers {', '.join(missing)}.")


def _present(params: Mapping[str, str], name: str) -> str:
    value = params.get(name)
    if not value:
        raise QueryError("IncompleteSignature", f"The request must have {name}.")
    return value


def _time(date: str) -> float:
    for form in _TIMES:
        try:
            return datetime.strptime(date, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    raise QueryError("IncompleteSignature", "The time of the request is malformed; the format is 2026-01-31T12:00:00Z.")
