"""Check that an engine has the encryption keys of the other engines.

For each key that engines seal with, the database holds a proof: a string sealed with it. An engine that cannot open one
of them cannot read what other engines write, and would fail every stack that it works on. Key rotation seals the
proofs with the new key as well, so that a key that has been replaced is no longer required.
"""

from __future__ import annotations

from sqlalchemy import Connection, insert, select

from stoker.base.errors import Bug, Invalid
from stoker.store.sealing import Sealer
from stoker.store.tables import sealing_keys

_PROVEN = "stoker"


def require_keys(connection: Connection, sealer: Sealer) -> None:
    """Raise Invalid, with instructions, when the sealer cannot open what other engines have sealed."""
    try:
        for proof in connection.execute(select(sealing_keys.c.proof)).scalars():
            sealer.open(proof)
    except Bug:
        raise Invalid(
            "The database contains data encrypted with a key that this configuration lacks "
            "([DEFAULT] auth_encryption_key). Configure the same keys for all engines."
        ) from None


def record_proof(connection: Connection, sealer: Sealer) -> None:
    """Record a proof of the key that this engine seals with. Raises Invalid like `require_keys`."""
    require_keys(connection, sealer)
    identifier = sealer.digest(_PROVEN)
    if connection.execute(select(sealing_keys.c.id).where(sealing_keys.c.id == identifier)).first() is None:
        connection.execute(insert(sealing_keys).values(id=identifier, proof=sealer.seal(_PROVEN)))
