"""Compares the record of all stacks with the cloud, for a command: an engine is made for it, and not started."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from oslo_config import cfg

from stoker.engine.inspection.survey import ExpectedObject, SurveyResult, survey
from stoker.processes.assembly import made_engine, require_schema
from stoker.processes.directory import DataDirectory
from stoker.processes.embedded import configuration
from stoker.processes.embedded_options import Options
from stoker.processes.lifetime import cluster_config
from stoker.processes.marked_ids import MarkedIds
from stoker.processes.opened_database import opened_database


def compare_embedded(directory: DataDirectory, sought: Collection[ExpectedObject]) -> SurveyResult:
    """Compare the database of an embedded Stoker, which is set up, with its cloud."""
    set_up = directory.set_up()
    assert set_up is not None
    options = Options(directory, 0, 0, set_up.identity, set_up.cloud, set_up.config_files)
    return _compared(lambda: configuration(options), set_up.cloud, sought)


def compare_cluster(config_files: Collection[str], sought: Collection[ExpectedObject]) -> SurveyResult:
    """Compare the database of a cluster with its cloud."""
    return _compared(lambda: cluster_config(list(config_files)), None, sought)


def _compared(
    load: Callable[[], cfg.ConfigOpts], cloud_name: str | None, sought: Collection[ExpectedObject]
) -> SurveyResult:
    config = load()

    async def run() -> SurveyResult:
        async with opened_database(config) as database:
            await require_schema(database)
            async with made_engine(config, database, cloud_name=cloud_name) as engine:
                return await survey(
                    engine.services, MarkedIds(engine.services.types.registry, engine.services.sealer), sought
                )

    return asyncio.run(run())
