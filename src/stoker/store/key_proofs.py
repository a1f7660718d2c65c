"""Proof that an engine has the keys that the others have.

Each key that an engine seals with leaves a proof in the database: a text sealed with it. An engine that cannot open
one of them cannot read what some other engine writes, and would fail whatever stack it touches. Sealing anew renews
proofs like everything else, so that a key that has been replaced is asked for no more.
"""

from __future__ import annotations

from sqlalchemy import Connection, insert, select

from stoker.base.errors import Bug, Invalid
from stoker.store.sealing import Sealer
from stoker.store.tables import sealing_keys

_PROVEN = "stoker"


def require_keys(connection: Connection, sealer: Sealer) -> None:
    """Raise Invalid, saying what to do, when the sealer cannot open what other engines have sealed."""
    try:
        for proof in connection.execute(select(sealing_keys.c.proof)).scalars():
            sealer.open(proof)
    except Bug:
        raise Invalid(
            "The database holds data sealed with a key that this configuration lacks ([DEFAULT] auth_encryption_key): "
            "give all engines the same keys."
        ) from None


def prove(connection: Connection, sealer: Sealer) -> None:
    """Leave the proof of the key that this engine seals with. Raises Invalid as `require_keys` does."""
    require_keys(connection, sealer)
    identifier = sealer.digest(_PROVEN)
    if connection.execute(select(sealing_keys.c.id).where(sealing_keys.c.id == identifier)).first() is None:
        connection.execute(insert(sealing_keys).values(id=identifier, proof=sealer.seal(_PROVEN)))
