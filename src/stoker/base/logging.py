"""Logging: oslo.log's options and formats, the request in every line, and no secret in any.

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
"""Lines for a person at a terminal; the ids of the request and of the operation, if any, stand before the message."""

READABLE_REQUEST_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)-7s %(name)s: [%(request_id)s] %(operation)s%(message)s"

_QUIET_LOGGERS = (
    "falcon=WARN",
    "aiohttp.access=WARN",
    "asyncio=WARN",
    "keystoneauth=WARN",
    "alembic=WARN",
)

_KEY = (
    r"\b(?:[\w-]*passw(?:or)?d|[\w-]*adminpass|admin_pass|[\w-]*secret[\w-]*|[\w-]*private_key|auth_encryption_key"
    r"|[\w-]*token|authorization|signature|x-amz-signature|api_key)"
)
"""Names whose values are secret, whatever stands around them."""

_SECRETS = (
    # "name": "value", 'name': 'value', also with the quotes escaped inside another text
    re.compile(
        rf"""(?P<keep>{_KEY}\\?["']?\s*[:=,]\s*b?(?P<quote>\\?["']))(?P<hide>(?:(?!(?P=quote))(?:\\.|.))*)""",
        re.IGNORECASE | re.DOTALL,
    ),
    # name: value, name=value, Authorization: Bearer value
    re.compile(
        rf"""(?P<keep>{_KEY}\s*[:=]\s*(?:bearer\s+|basic\s+)?)(?P<hide>[^\s"'\\,;&{{}}()\[\]]+)""",
        re.IGNORECASE,
    ),
    # scheme://user:value@host
    re.compile(r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)(?P<hide>[^\s/@]+)(?=@)", re.IGNORECASE),
    # a Fernet token, wherever it stands
    re.compile(r"(?P<keep>)(?P<hide>\bgAAAA[\w=-]{20,})"),
)

_MARKS = (
    "passw", "adminpass", "admin_pass", "secret", "private_key", "encryption_key", "token", "authorization",
    "signature", "api_key", "://", "gaaaa",
)  # fmt: skip
"""Each pattern needs one of these; most lines have none, and looking for these costs little."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_INSIDE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""The same without the tabs and line feeds of tracebacks."""

_CONTINUATION = "  | "
"""What begins the second and further lines of one record, so that none looks like a record of its own."""

_request: ContextVar[RequestContext | None] = ContextVar("stoker_request", default=None)
_operation: ContextVar[str | None] = ContextVar("stoker_operation", default=None)


@contextmanager
def request_scope(context: RequestContext | None) -> Iterator[None]:
    """Lines logged inside carry the request's id and caller; follows tasks that are started inside.

    None stands for a request whose caller is not known (yet).
    """
    token = _request.set(context)
    try:
        yield
    finally:
        _request.reset(token)


@contextmanager
def operation_scope(operation_id: str, context: RequestContext | None) -> Iterator[None]:
    """Lines logged inside carry the operation's id, and the id of the request that asked for it, where that is known.

    JSON (`use_json`) has it among `extra`, as `operation_id`.
    """
    token = _operation.set(operation_id)
    try:
        with request_scope(context):
            yield
    finally:
        _operation.reset(token)


def setup(config: cfg.ConfigOpts, *, readable: bool = False) -> None:
    """Set up logging for this process as `config` says (oslo.log's options: debug, use_json, log_file …).

    `readable` chooses short lines on the standard error stream, for a terminal, where the configuration says nothing
    else.
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
    """Make `handler` name the request and the operation in each line, hide secrets and escape control characters."""
    handler.addFilter(_complete)
    handler.setFormatter(_ProtectingFormatter(handler.formatter or logging.Formatter()))


def mask(text: str) -> str:
    """`text` with the values of passwords, tokens and keys replaced by `***`."""
    plain = text.casefold()
    if not any(mark in plain for mark in _MARKS):
        return text
    for pattern in _SECRETS:
        text = pattern.sub(r"\g<keep>***", text)
    return text


def escape(text: str) -> str:
    """`text` with control characters as `\\xNN` or `\\uNNNN`, so that it cannot start a line or steer a terminal."""
    return _CONTROL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


class _LineContext(oslo_context.RequestContext):
    """The request of one line. oslo.context would have it stand for the thread, and for all that is logged there."""

    def update_store(self) -> None:
        """Be nobody's context but the line's."""


def _complete(record: logging.LogRecord) -> bool:
    """Name request and operation where formatters look, and settle the message: oslo.log's may write its arguments."""
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
    record.msg, record.args = escape(mask(record.getMessage())), None
    return True


class _ProtectingFormatter(logging.Formatter):
    """Hides secrets and escapes control characters in what the formatter inside produced: text, JSON, tracebacks.

    Messages have no line ends by now. The lines of a traceback get a prefix from oslo.log's formatters
    (`logging_exception_prefix`); here from all others.
    """

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner
        self._margin = "" if isinstance(inner, formatters.ContextFormatter) else _CONTINUATION

    def format(self, record: logging.LogRecord) -> str:
        text = _CONTROL_INSIDE.sub(_escaped, mask(self._inner.format(record)))
        return text.replace("\n", f"\n{self._margin}") if self._margin else text
