"""The only module that uses internals of oslo.messaging and oslo.config, which have no promise of compatibility.

`pyproject.toml` bounds the supported releases; a test calls each function with a real broker, so that an incompatible
release is noticed before it is allowed.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from oslo_config import cfg
from oslo_messaging._drivers.amqpdriver import AMQPListener

LOG = logging.getLogger(__name__)


def registered_option(name: str, group: str | None) -> object:
    """Return the option that oslo.messaging has registered on the global configuration."""
    return cfg.CONF._get_opt_info(name, group)["opt"]


def refuse_more(listener: Any) -> None:
    """Cancel a listener's consumers at the broker, so that it receives no more messages.

    Stopping a listener does not do this: the broker continues to send messages, which arrive while the connection is
    being closed, are acknowledged, and are lost.
    """
    poller = listener._poll_style_listener
    if isinstance(poller, AMQPListener):
        poller._message_operations_handler.do(partial(_cancel_consumers, poller.conn))


def _cancel_consumers(connection: Any) -> None:
    """Cancel on the thread that reads the connection; messages that arrive before the reply are dispatched as usual."""
    try:
        for consumer, tag in connection._consumers.items():
            consumer.cancel(tag)
    except (*connection.connection.connection_errors, *connection.connection.channel_errors) as error:
        LOG.info("The consumers of this engine could not be canceled at the broker: %s", error)
