"""Logging: oslo.log's options and formats, with the request in every line, and secrets redacted.

Modules log through the standard `logging.getLogger(__name__)`; `setup` is called once, by a process's entry point.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, lru_cache

from oslo_config import cfg
from oslo_context import context as oslo_context
from oslo_log import formatters, log

from stoker.base.context import RequestContext
from stoker_foundation import log_lines

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

_CONTEXTS = 256
"""Requests whose lines are prepared once."""

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
        config.set_default("logging_exception_prefix", log_lines.CONTINUATION)
        config.set_default("use_stderr", True)
    log.setup(config, _PRODUCT)
    for handler in logging.getLogger().handlers:
        protect(handler)


def protect(handler: logging.Handler) -> None:
    """Make `handler` add request and operation to each line, redact secrets, and escape control characters.

    oslo.log's formatters prefix the lines of a traceback themselves (`logging_exception_prefix`).
    """
    handler.addFilter(_complete)
    prefixes = isinstance(handler.formatter, formatters.ContextFormatter)
    log_lines.protect(handler, margin="" if prefixes else log_lines.CONTINUATION)


class _LineContext(oslo_context.RequestContext):
    """The request of log lines. oslo.context would store it for the thread, and apply it to all later lines."""

    def update_store(self) -> None:
        """Do not store this context for the thread."""

    def get_logging_values(self) -> dict[str, object]:
        """Return the values, which formatters ask for twice for each line."""
        return self._values

    @cached_property
    def _values(self) -> dict[str, object]:
        values: dict[str, object] = super().get_logging_values()
        return values


@lru_cache(_CONTEXTS)
def _line_context(request_id: str, user_id: str, project_id: str) -> _LineContext:
    """Return the request of lines; most requests write several."""
    escape = log_lines.escape
    return _LineContext(request_id=escape(request_id), user_id=escape(user_id), project_id=escape(project_id))


def _complete(record: logging.LogRecord) -> bool:
    """Set request and operation where formatters read them."""
    context = _request.get()
    if context is not None and not getattr(record, "request_id", None):
        shown = _line_context(context.request_id, context.user_id, context.project_id)
        record.request_id = shown.request_id
        record.user_identity = f"{shown.user_id} {shown.project_id}"
        record.context = shown
    operation = _operation.get()
    record.operation = "" if operation is None else f"[operation {operation}] "
    if operation is not None:
        record.extra = {**getattr(record, "extra", {}), "operation_id": operation}
    return True
