"""How often the garbage collector looks for cycles."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 50_000
"""So many new containers, more than a list of a thousand resources needs, make it look at the newest ones."""


def collect_rarely() -> None:
    """Leave what a process has made to begin with alone from now on, and look at the rest less often.

    With Python's own settings a long list makes the collector go through the whole process once or twice, which takes
    more time than the list. What has no cycles, as nearly everything, is freed at once in any case.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 10, 10)
