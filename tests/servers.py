"""`testing.servers` under the name that programs outside of the repository import."""

from testing.servers import *  # noqa: F403
