"""Regular expressions that users write: in Python's syntax and with its meaning, without its cost.

    pattern = compiled("[a-z]+")
    pattern.fits("abc"), pattern.found_in("1 abc 2"), pattern.matches("ab cd")

Whether a pattern is one is decided by Python's own parser. Whether it matches is answered by RE2, whose time is linear
in the text and whose memory is bounded, for patterns and texts where both engines mean the same (see `automaton`);
otherwise by Python's `re` in a helper process that has a limited time and memory (see `helper`).
"""

from __future__ import annotations

from stoker.base.patterns.helper import Match, PatternTooCostly
from stoker.base.patterns.pattern import MOST_CHARACTERS, Pattern, PatternError, compiled

__all__ = ["MOST_CHARACTERS", "Match", "Pattern", "PatternError", "PatternTooCostly", "compiled"]
