"""What Nova keeps, with all that may be done to it."""

from __future__ import annotations

from stoker.emulator.compute.lifecycle import Lifecycle


class ComputeRecords(Lifecycle):
    """Flavors, keypairs, quotas, hosts, servers, and what is plugged into servers."""
