"""`python -m stoker.emulator`."""

from __future__ import annotations

from stoker.emulator.main import main

if __name__ == "__main__":
    main()
