"""Assembly of an engine from configuration, for all processes that run one."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from oslo_config import cfg
from sqlalchemy.exc import IntegrityError

from stoker.base.extensions import offers
from stoker.cloud.auth import CloudPool
from stoker.engine.core import Engine
from stoker.engine.notifications.announcer import Bus
from stoker.engine.ownership.isolation import Isolation
from stoker.engine.ownership.peers import Peers
from stoker.plugins.configured import ConfiguredTypes
from stoker.plugins.registry import RESOURCES, Registry
from stoker.processes.opened_database import stored_at_start
from stoker.processes.report import report_section
from stoker.processes.settings import cloud_settings, encryption_keys, engine_settings
from stoker.store import key_proofs, schema
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.sealing import Sealer
from stoker.template.versions import by_name
from stoker_foundation.clock import SystemClock

LOG = logging.getLogger(__name__)


@asynccontextmanager
async def made_engine(
    config: cfg.ConfigOpts,
    database: Database,
    *,
    cloud_name: str | None = None,
    peers: Peers | None = None,
    bus: Bus | None = None,
    isolation: Isolation | None = None,
    trial: str | None = None,
) -> AsyncIterator[Engine]:
    """Create an engine, without starting it. Its connections are closed at the end; stop it before.

    `isolation` and `trial` are as in `IsolationSettings`. Raises cfg.Error for invalid values, Invalid when its keys
    cannot decrypt what other engines have encrypted, or the database cannot store anything.
    """
    made = assembled_engine(
        config, database, cloud_name=cloud_name, peers=peers, bus=bus, isolation=isolation, trial=trial
    )
    async with made as engine:
        proof = partial(_prove_keys, engine.services.journal, engine.services.sealer)
        await stored_at_start(config, database, proof)
        yield engine


@asynccontextmanager
async def assembled_engine(
    config: cfg.ConfigOpts,
    database: Database,
    *,
    cloud_name: str | None = None,
    peers: Peers | None = None,
    bus: Bus | None = None,
    isolation: Isolation | None = None,
    trial: str | None = None,
) -> AsyncIterator[Engine]:
    """Create an engine that has written nothing yet, as `made_engine`. Raises cfg.Error for invalid values."""
    clock = SystemClock()
    settings = engine_settings(config)
    sealer = Sealer(encryption_keys(config))
    async with AsyncExitStack() as opened:
        pool = CloudPool(cloud_settings(config), clock)
        opened.push_async_callback(pool.close)
        journal = Journal(database)
        opened.callback(journal.close)
        registry = loaded_plugins(settings.type_options)
        if settings.prices is not None:
            settings.prices.check_types(registry.types, config.price_list)
        engine = Engine(
            database=database,
            journal=journal,
            sealer=sealer,
            registry=registry,
            pool=pool,
            clock=clock,
            settings=settings,
            cloud_name=cloud_name,
            peers=peers,
            bus=bus,
            isolation=isolation,
            trial=trial,
        )
        report_section("Operations", lambda: {run.operation.id: run.values() for run in engine.runs.all()})
        yield engine


def loaded_plugins(options: Mapping[str, Any]) -> Registry:
    """Load everything that the installed packages offer, so that what cannot be used prevents the start.

    `options` are the operator's settings for resource types. Raises PluginInvalid.
    """
    by_name()
    directories = [name for name in options.get("plugin_dirs") or () if Path(name).is_dir()]
    if directories and not any(isinstance(offer.value, ConfiguredTypes) for offer in offers(RESOURCES)):
        LOG.warning(
            "The option [DEFAULT] plugin_dirs has no effect: plug-ins for Heat in %s are loaded by the package "
            "stoker-heat-plugins, which is not installed",
            ", ".join(directories),
        )
    return Registry.from_entry_points(options)


async def _prove_keys(journal: Journal, sealer: Sealer) -> None:
    record_proof = Batch().then(partial(key_proofs.record_proof, sealer=sealer))
    try:
        await journal.commit(record_proof)
    except IntegrityError:  # another engine has just recorded the same proof
        await journal.commit(record_proof)


async def require_schema(database: Database) -> None:
    """Raise Invalid, with instructions, when the tables are not compatible with this release."""
    await database.read(schema.require_fit)
