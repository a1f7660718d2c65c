"""A module to import for what it imports: all services of the emulated cloud, which it imports when they are used."""

from __future__ import annotations

from openstack_emulator.services import SERVICES

for _offer in SERVICES:
    _offer.load()
