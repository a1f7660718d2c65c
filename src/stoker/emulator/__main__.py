"""`python -m stoker.emulator`."""

from __future__ import annotations

import os

from stoker.emulator.main import main

if __name__ == "__main__":
    os.umask(0o077)  # the state, the log and the port file are for their owner only
    main()
