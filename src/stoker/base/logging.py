"""Logging: oslo.log's options and formats, with the request in every line, and secrets redacted.

Modules log through the standard `logging.getLogger(__name__)`; `setup` is called once, by a process's entry point.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from oslo_config import cfg
from oslo_context import context as oslo_context
from oslo_log import formatters, log

from stoker.base.context import RequestContext

_PRODUCT = "stoker"

READABLE_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)-7s %(name)s: %(operation)s%(message)s"
"""Lines for a terminal; the IDs of the request and of the operation, if any, precede the message."""

READABLE_REQUEST_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)-7s %(name)s: [%(request_id)s] %(operation)s%(message)s"

_QUIET_LOGGERS = (
    "falcon=WARN",
    "aiohttp.access=WARN",
    "asyncio=WARN",
    "keystoneauth=WARN",
    "alembic=WARN",
)

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

_CONTINUATION = "  | "
"""Prefix of the second and further lines of a record, so that no line can be mistaken for a record of its own."""

_request: ContextVar[RequestContext | None] = ContextVar("stoker_request", default=None)
_operation: ContextVar[str | None] = ContextVar("stoker_operation", default=None)


@contextmanager
def request_scope(context: RequestContext | None) -> Iterator[None]:
    """Add the request's ID and caller to lines logged inside the block, and in tasks that are started inside.

    None means a request whose caller is not known (yet).
    """
    token = _request.set(context)
    try:
        yield
    finally:
        _request.reset(token)


@contextmanager
def operation_scope(operation_id: str, context: RequestContext | None) -> Iterator[None]:
    """Add the operation's ID, and the ID of the request that started it if known, to lines logged inside the block.

    In JSON (`use_json`) it is the field `operation_id` of `extra`.
    """
    token = _operation.set(operation_id)
    try:
        with request_scope(context):
            yield
    finally:
        _operation.reset(token)


def setup(config: cfg.ConfigOpts, *, readable: bool = False) -> None:
    """Set up logging for this process as `config` says (oslo.log's options: debug, use_json, log_file …).

    `readable` selects short lines on the standard error stream, for a terminal, unless the configuration sets these
    options.
    """
    log.set_defaults(default_log_levels=[*log.get_default_log_levels(), *_QUIET_LOGGERS])
    if readable:
        config.set_default("logging_default_format_string", READABLE_FORMAT)
        config.set_default("logging_context_format_string", READABLE_REQUEST_FORMAT)
        config.set_default("logging_exception_prefix", _CONTINUATION)
        config.set_default("use_stderr", True)
    log.setup(config, _PRODUCT)
    for handler in logging.getLogger().handlers:
        protect(handler)


def protect(handler: logging.Handler) -> None:
    """Make `handler` add request and operation to each line, redact secrets, and escape control characters."""
    handler.addFilter(_complete)
    handler.setFormatter(_ProtectingFormatter(handler.formatter or logging.Formatter()))


def redact(text: str) -> str:
    """Return `text` with the values of passwords, tokens and keys replaced by `***`."""
    plain = text.casefold()
    if not any(mark in plain for mark in _MARKS):
        return text
    for pattern in _SECRETS:
        text = pattern.sub(r"\g<keep>***", text)
    return text


def escape(text: str) -> str:
    """Return `text` with control characters as `\\xNN` or `\\uNNNN`, so that it cannot forge a log line."""
    return _CONTROL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


class _LineContext(oslo_context.RequestContext):
    """The request of one log line. oslo.context would store it for the thread, and apply it to all later lines."""

    def update_store(self) -> None:
        """Do not store this context for the thread."""


def _complete(record: logging.LogRecord) -> bool:
    """Set request and operation where formatters read them, and render the message.

    Rendering it here keeps oslo.log's JSON formatter from writing its arguments, which may be secret.
    """
    context = _request.get()
    if context is not None and not getattr(record, "request_id", None):
        request_id, user_id, project_id = map(escape, (context.request_id, context.user_id, context.project_id))
        record.request_id = request_id
        record.user_identity = f"{user_id} {project_id}"
        record.context = _LineContext(request_id=request_id, user_id=user_id, project_id=project_id)
    operation = _operation.get()
    record.operation = "" if operation is None else f"[operation {operation}] "
    if operation is not None:
        record.extra = {**getattr(record, "extra", {}), "operation_id": operation}
    record.msg, record.args = escape(redact(record.getMessage())), None
    return True


class _ProtectingFormatter(logging.Formatter):
    """Redacts secrets and escapes control characters in the output of another formatter: lines, JSON, tracebacks.

    Messages no longer contain line ends here. oslo.log's formatters prefix the lines of a traceback themselves
    (`logging_exception_prefix`); this class does so for all other formatters.
    """

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner
        self._margin = "" if isinstance(inner, formatters.ContextFormatter) else _CONTINUATION

    def format(self, record: logging.LogRecord) -> str:
        text = _CONTROL_INSIDE.sub(_escaped, redact(self._inner.format(record)))
        return text.replace("\n", f"\n{self._margin}") if self._margin else text
