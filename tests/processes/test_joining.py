"""An engine joins a cluster only if all engines can decrypt each other's data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from oslo_config import cfg

from stoker.base.default_options import PUBLIC_KEY
from stoker.base.errors import Invalid
from stoker.processes.assembly import made_engine
from stoker.processes.lifetime import cluster_config
from stoker.store import key_rotation
from stoker.store.database import Database
from stoker.store.sealing import Sealer

OLD, NEW, OTHER = "o" * 32, "n" * 32, "x" * 32

Configure = Callable[[str], cfg.ConfigOpts]


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Return a cluster's configuration with these keys."""

    def load(keys: str) -> cfg.ConfigOpts:
        path = tmp_path / "heat.conf"
        path.write_text(f"[DEFAULT]\nauth_encryption_key = {keys}\nenvironment_dir = {tmp_path}\n")
        return cluster_config([str(path)])

    return load


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/s.db")
    database.migrate()
    yield database
    database.close()


async def join(config: cfg.ConfigOpts, database: Database) -> None:
    async with made_engine(config, database):
        pass


def reseal(database: Database, sealer: Sealer) -> None:
    with database.writing() as connection:
        for column in key_rotation.sealed_columns():
            key_rotation.reseal(connection, sealer, column)


async def test_an_engine_with_another_key_is_refused(configure: Configure, database: Database) -> None:
    await join(configure(OLD), database)
    await join(configure(OLD), database)
    with pytest.raises(Invalid, match="auth_encryption_key") as caught:
        await join(configure(OTHER), database)
    assert "xxx" not in caught.value.message
    await join(configure(OLD), database)


async def test_keys_can_be_rotated_in_the_documented_order(configure: Configure, database: Database) -> None:
    await join(configure(OLD), database)
    await join(configure(f"{OLD},{NEW}"), database)
    await join(configure(f"{NEW},{OLD}"), database)
    with pytest.raises(Invalid):
        await join(configure(OLD), database)
    with pytest.raises(Invalid):
        await join(configure(NEW), database)
    reseal(database, Sealer([NEW, OLD]))
    await join(configure(NEW), database)


@pytest.mark.parametrize("keys", [PUBLIC_KEY, f"{NEW},{PUBLIC_KEY}"])
async def test_a_public_key_is_refused(configure: Configure, database: Database, keys: str) -> None:
    with pytest.raises(cfg.Error, match=r"\[DEFAULT\] auth_encryption_key: set a secret string"):
        await join(configure(keys), database)


async def test_a_key_must_be_configured(configure: Configure, database: Database, tmp_path: Path) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(f"[DEFAULT]\nenvironment_dir = {tmp_path}\n")
    with pytest.raises(cfg.Error, match=r"\[DEFAULT\] auth_encryption_key: set a secret string"):
        await join(cluster_config([str(path)]), database)
