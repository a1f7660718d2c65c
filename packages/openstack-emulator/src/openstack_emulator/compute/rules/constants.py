"""Times and messages of the compute service."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, not_found

ZONE = "nova"
SHORT = 0.05
LONG = 0.1
GUEST = 0.1
"""Until it is looked again whether a guest has carried out its order."""

MISSING = {
    "servers": "Instance {} could not be found.",
    "flavors": "Flavor {} could not be found.",
    "server_groups": "Instance group {} could not be found.",
    "aggregates": "Aggregate {} could not be found.",
    "hosts": "Compute host {} could not be found.",
    "services": "Service {} could not be found.",
}


def missing(collection: str, key: str) -> ApiError:
    """Nova's 404 for a record of a collection."""
    return not_found(MISSING[collection].format(key))
