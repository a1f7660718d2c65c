"""Errors about addresses that cannot be listened on, with the options that configure them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from stoker.base.errors import Invalid


@contextmanager
def listening_at(host: str, port: int, options: str) -> Iterator[None]:
    """Convert an OSError of listening inside the block to Invalid, with the address and the `options`."""
    try:
        yield
    except OSError as error:
        of_the_system = error.errno is not None and error.errno > 0  # those of name resolution are negative
        reason = os.strerror(error.errno or 0) if of_the_system else error.strerror or str(error)
        raise Invalid(f"{options}: cannot listen on {host}:{port}: {reason}.") from error
