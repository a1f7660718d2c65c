"""Regular expressions written by users: Python's syntax and semantics, with bounded cost.

    pattern = compiled("[a-z]+")
    pattern.fits("abc"), pattern.found_in("1 abc 2"), pattern.matches("ab cd")

Python's own parser decides whether a pattern is valid. RE2, whose time is linear in the length of the string and whose
memory is bounded, matches it where both engines agree (see `automaton`); otherwise Python's `re` does, in a helper
process with limited time and memory (see `helper`).

Patterns in simpler languages (wildcards, RE2's expressions) are matched by `linear`.
"""

from __future__ import annotations

from stoker_foundation.patterns.helper import Match, PatternTooCostly, measure_waiting
from stoker_foundation.patterns.pattern import MOST_CHARACTERS, Pattern, PatternError, compiled

__all__ = ["MOST_CHARACTERS", "Match", "Pattern", "PatternError", "PatternTooCostly", "compiled", "measure_waiting"]
