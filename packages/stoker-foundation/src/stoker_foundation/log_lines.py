"""Lines of logs: secrets redacted, control characters escaped, so that no line shows a password or forges another."""

from __future__ import annotations

import logging
import re

CONTINUATION = "  | "
"""Prefix of the second and further lines of a record, so that no line can be mistaken for a record of its own."""

_KEY = (
    r"(?<![\w-])(?=[\w-]*(?:secret[\w-]*|passw(?:or)?d|adminpass|admin_pass|private_key|auth_encryption_key|token"
    r"|authorization|signature|api_key)(?![\w-]))[\w-]++"
)
"""Names whose values are secret. Lines contain what clients send, so the time is linear: each name is looked at once,
from its beginning, and possessive quantifiers never go back."""

_SECRETS = (
    # "name": "value", 'name': 'value', also with the quotes escaped inside another string
    re.compile(
        rf"""(?P<keep>{_KEY}\\?["']?\s*+[:=,]\s*+b?(?P<quote>\\?["']))(?P<hide>(?:(?!(?P=quote))(?:\\.|.))*+)""",
        re.IGNORECASE | re.DOTALL,
    ),
    # name: value, name=value, Authorization: Bearer value
    re.compile(
        rf"""(?P<keep>{_KEY}\s*+[:=]\s*+(?:bearer\s++|basic\s++)?)(?P<hide>[^\s"'\\,;&{{}}()\[\]]++)""",
        re.IGNORECASE,
    ),
    # scheme://user:value@host
    re.compile(r"(?P<keep>(?<![a-z0-9+.-])[a-z0-9+.-]*+://[^\s/:@]*+:)(?P<hide>[^\s/@]++)(?=@)", re.IGNORECASE),
    # a Fernet token anywhere
    re.compile(r"(?P<keep>)(?P<hide>\bgAAAA[\w=-]{20,})"),
)

_MARKS = (
    "passw", "adminpass", "admin_pass", "secret", "private_key", "encryption_key", "token", "authorization",
    "signature", "api_key", "://", "gaaaa",
)  # fmt: skip
"""Each pattern requires one of these strings. Most lines contain none, and searching for them is cheap."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_INSIDE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""The same without tabs and line feeds, which tracebacks contain."""


def protect(handler: logging.Handler, *, margin: str = CONTINUATION) -> None:
    """Make `handler` redact secrets and escape control characters.

    margin: what precedes the second and further lines of a record; "" if the handler's formatter prefixes them itself.
    """
    handler.addFilter(render)
    handler.setFormatter(_ProtectingFormatter(handler.formatter or logging.Formatter(), margin))


def render(record: logging.LogRecord) -> bool:
    """Render the message, without secrets and line ends.

    Rendering it here keeps formatters for JSON from writing its arguments, which may be secret.
    """
    record.msg, record.args = escape(redact(record.getMessage())), None
    return True


def redact(text: str) -> str:
    """Return `text` with the values of passwords, tokens and keys replaced by `***`."""
    plain = text.casefold()
    for mark in _MARKS:  # without a generator, which takes longer than the search
        if mark in plain:
            break
    else:
        return text
    for pattern in _SECRETS:
        text = pattern.sub(r"\g<keep>***", text)
    return text


def escape(text: str) -> str:
    """Return `text` with control characters as `\\xNN` or `\\uNNNN`, so that it cannot forge a log line."""
    return _CONTROL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


class _ProtectingFormatter(logging.Formatter):
    """Redacts secrets and escapes control characters in the output of another formatter: lines, JSON, tracebacks.

    Messages no longer contain line ends here.
    """

    def __init__(self, inner: logging.Formatter, margin: str) -> None:
        super().__init__()
        self._inner = inner
        self._margin = margin

    def format(self, record: logging.LogRecord) -> str:
        text = _CONTROL_INSIDE.sub(_escaped, redact(self._inner.format(record)))
        return text.replace("\n", f"\n{self._margin}") if self._margin else text
