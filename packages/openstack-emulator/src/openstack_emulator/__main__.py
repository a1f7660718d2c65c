"""`python -m openstack_emulator`, the program `openstack-emulator`."""

from __future__ import annotations

from openstack_emulator.main import main

if __name__ == "__main__":
    main()
