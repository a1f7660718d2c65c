"""`testing.harness` under the name that programs outside of the repository import."""

from testing.harness import *  # noqa: F403
