"""Addresses that cannot be listened at, told with the options that they come from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from stoker.base.errors import Invalid


@contextmanager
def listening_at(host: str, port: int, options: str) -> Iterator[None]:
    """Within it something begins to listen; Invalid names the address and the `options` when it cannot."""
    try:
        yield
    except OSError as error:
        of_the_system = error.errno is not None and error.errno > 0  # those of looking up a name are below
        reason = os.strerror(error.errno or 0) if of_the_system else error.strerror or str(error)
        raise Invalid(f"{options}: nothing can listen at {host}:{port}: {reason}.") from error
