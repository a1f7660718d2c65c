"""Message functions. Messages are not translated; each function returns its argument."""

from __future__ import annotations


def _(message: str) -> str:
    return message


_LI = _LW = _LE = _LC = _


def _LD(message: str) -> str:  # noqa: N802  a name of the interface
    return message
