"""`python -m stoker_foundation.program MODULE ARGUMENT…`: calls `main` of a module that imports much, as its program.

Nearly everything that an import makes stays. Python's garbage collector would look through all of it again and again,
which takes a sixth of the time of a start.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def importing() -> Iterator[None]:
    """Collect no garbage meanwhile, and exclude what has been made until the end from later collections."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def main() -> None:
    """Entry point: `main` of the module finds its own arguments in `sys.argv`."""
    name = sys.argv.pop(1)
    with importing():
        module = import_module(name)
    module.main()


if __name__ == "__main__":
    main()
