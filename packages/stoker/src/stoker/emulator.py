"""`python -m stoker.emulator`: the former name of the program `openstack-emulator up`."""

from __future__ import annotations

import sys

from openstack_emulator.main import main

if __name__ == "__main__":
    main(["up", *sys.argv[1:]])
