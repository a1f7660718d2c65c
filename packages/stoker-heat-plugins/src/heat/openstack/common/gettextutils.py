"""The place of the message functions before 2015."""

from heat.common.i18n import _LC, _LE, _LI, _LW, _

__all__ = ["_LC", "_LE", "_LI", "_LW", "_"]
