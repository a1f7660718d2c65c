"""What the rules of the block-storage service share: the back end's name, and the times that changes take."""

from __future__ import annotations

HOST = "devstack"
BACKEND = "lvmdriver-1"
BACKEND_HOST = f"{HOST}@{BACKEND}"
POOL = f"{BACKEND_HOST}#{BACKEND}"
ZONE = "nova"

SHORT = 0.05
LONG = 0.15
COPY = 0.2
"""Until it is looked again whether a content has been copied."""
