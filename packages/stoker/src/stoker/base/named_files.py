"""Reading files that a document names: its author may be somebody else than the user who opens it.

A template can name `/dev/zero`, which never ends, a pipe, which is never written to, or the terminal.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LARGEST = 16 * 1024 * 1024
"""Bytes of a file. Services accept far less in a request (`max_json_body_size`)."""


def read_named(path: str, within: Path | None = None) -> bytes:
    """Return the content of a regular file.

    Raises OSError, also for what is no regular file, is larger than `LARGEST`, or is not in the directory `within`,
    links followed; and ValueError for what is no path.
    """
    if within is not None and not Path(path).resolve().is_relative_to(within.resolve()):
        raise PermissionError(errno.EACCES, f"it is outside the directory {within}", path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        content = file.read(LARGEST + 1) or b""  # None: a file of the system has nothing yet
    if len(content) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST // 1024 // 1024} MiB", path)
    return content
