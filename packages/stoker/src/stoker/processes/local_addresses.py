"""The login of clients at the identity service of an embedded Stoker on a real cloud (see `local_identity`)."""

from __future__ import annotations

IDENTITY_PATH = "/identity"
LOCAL_USER = "stoker"
