"""`stoker_foundation.program stoker.processes.embedded`: one process with an engine and the API, on a SQLite database.

The engine runs on the event loop; threads serve the API, and call the engine directly.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import uvloop
from oslo_config import cfg

from stoker.api.app import make_app
from stoker.api.auth import Policy, WSGIApplication
from stoker.api.cfn.app import make_cfn_app
from stoker.api.server import Server
from stoker.base.config import load_config, shown_options
from stoker.base.errors import StokerError
from stoker.base.logging import setup as set_logging_up
from stoker.base.options import SERVICE_USER
from stoker.base.unused_options import log_unused_options
from stoker.cloud.clouds_yaml import NamedCloud, read_cloud
from stoker.engine.core import Engine
from stoker.operations import OPERATIONS, READING
from stoker.processes.access import REGION
from stoker.processes.assembly import made_engine
from stoker.processes.directory import PRIVATE_UMASK, WELL_KNOWN_PASSWORD, DataDirectory, SetUp
from stoker.processes.embedded_options import Options
from stoker.processes.isolation import EmbeddedPeers, ProcessIsolation, try_suspects
from stoker.processes.local_addresses import IDENTITY_PATH
from stoker.processes.local_identity import LocalIdentity
from stoker.processes.mark_files import MarkFiles, data_dir_option
from stoker.processes.marked_ids import MarkedIds
from stoker.processes.marks import MarkKeeper
from stoker.processes.memory import configure_allocator, reduce_garbage_collection
from stoker.processes.opened_database import opened_database
from stoker.processes.progress import with_progress
from stoker.processes.report import report_section
from stoker.processes.settings import TOKEN_CHECK, readers_of, server_limits, serving_threads, set_login
from stoker.processes.signals import handle_signals
from stoker.processes.tokens import caller_check
from stoker.processes.web_console import with_console
from stoker.rpc.dispatch import DirectClient, Dispatcher
from stoker.store.schema import require_not_later
from stoker_foundation.readiness import report_ready

_log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_LAST_CALLS_SECONDS = 8.0
"""Time for requests in progress at a shutdown; the others are answered with an error, while the server still runs."""


def configuration(options: Options) -> cfg.ConfigOpts:
    """Load the configuration files, over the defaults of an embedded Stoker.

    Raises oslo_config.cfg.Error for invalid values, Invalid for a cloud that is not in clouds.yaml.
    """
    config = load_config([], options.config_files)
    config.set_default("auth_encryption_key", options.directory.encryption_key())
    config.set_default("connection", options.directory.database_url, group="database")
    config.set_default("enable_stack_abandon", True)
    config.set_default("enable_stack_adopt", True)
    config.set_default("enabled", True, group="console")
    config.set_default("heat_metadata_server_url", f"http://{_HOST}:{options.cfn_port}")
    config.set_default("heat_waitcondition_server_url", f"http://{_HOST}:{options.cfn_port}/v1/waitcondition")
    if options.cloud is None:
        _use_emulated_cloud(config, options.identity, options.directory)
    else:
        _use_named_cloud(config, read_cloud(options.cloud))
        # The catalog of the cloud has no entry for this process.
        config.set_default("url", f"http://{_HOST}:{options.api_port}/v1/%(tenant_id)s", group="clients_heat")
        identity = f"http://{_HOST}:{options.api_port}{IDENTITY_PATH}/v3"
        config.set_default("auth_url", identity, group="console")
    return config


def _login_hint(directory: DataDirectory, password: str) -> str:
    """Return who may log in. Only the password that everybody knows is shown."""
    where = f"password {password}" if password == WELL_KNOWN_PASSWORD else f"password in {directory.path / 'openrc'}"
    return f"The emulated cloud has the user demo, with the {where} and the project demo."


def _use_emulated_cloud(config: cfg.ConfigOpts, identity: str, directory: DataDirectory) -> None:
    """Configure the service users of an emulated cloud, as the data directory records them."""
    password_of = (directory.set_up() or SetUp("", "", identity)).password_of
    service_user = {
        "auth_url": identity,
        "username": "heat",
        "password": password_of("heat"),
        "user_domain_name": "Default",
        "project_name": "service",
        "project_domain_name": "Default",
    }
    config.set_default("login_hint", _login_hint(directory, password_of("demo")), group="console")
    config.set_default("region_name_for_services", REGION)
    set_login(config, TOKEN_CHECK, "password", service_user)
    set_login(config, SERVICE_USER, "password", service_user)
    config.set_default("allow_trusts_redelegation", True)
    config.set_default("stack_user_domain_name", "heat")
    config.set_default("stack_domain_admin", "heat_domain_admin")
    config.set_default("stack_domain_admin_password", password_of("heat_domain_admin"))


def _use_named_cloud(config: cfg.ConfigOpts, cloud: NamedCloud) -> None:
    """Configure the user's own login for all calls of services."""
    set_login(config, TOKEN_CHECK, *_checking_login(config, cloud))
    config.set_default("region_name_for_services", cloud.region_name)
    config.set_default("ca_file", cloud.ca_file, group="clients")
    config.set_default("insecure", cloud.insecure, group="clients")
    config.set_default("endpoint_type", cloud.interface or "public", group="clients")


def _checking_login(config: cfg.ConfigOpts, cloud: NamedCloud) -> tuple[str, Mapping[str, object]]:
    """Return the plug-in and the login for validating tokens and signatures.

    Keystone lets ordinary users validate their own tokens only. If there is a stack domain, its administrator may also
    validate those of the stacks' users.
    """
    if not config.stack_domain_admin:
        return cloud.auth_type, cloud.auth
    domain = {"name": config.stack_user_domain_name, "id": config.stack_user_domain_id}
    return "password", {
        "auth_url": cloud.auth.get("auth_url"),
        "username": config.stack_domain_admin,
        "password": config.stack_domain_admin_password,
        **{f"user_domain_{key}": value for key, value in domain.items()},
        **{f"domain_{key}": value for key, value in domain.items()},
    }


@asynccontextmanager
async def running_engine(options: Options, config: cfg.ConfigOpts) -> AsyncIterator[Engine]:
    """Run an engine, without unfinished operations; those unfinished at the end are left to the next engine."""
    async with opened_database(config) as database:
        database.read_now(require_not_later)
        database.migrate()
        isolation = ProcessIsolation(*options.arguments())
        async with made_engine(
            config, database, cloud_name=options.cloud, peers=EmbeddedPeers(), isolation=isolation
        ) as engine:
            marks = MarkFiles.of(options.directory, options.cloud)
            shown = MarkedIds(engine.services.types.registry, engine.services.sealer)
            keeper = MarkKeeper(database, marks, engine.services.clock, shown, data_dir_option(options.directory))
            await keeper.compare_with_mark()
            await engine.start(alone=True, killed=options.directory.killed())
            options.directory.forget_killed()
            keeper.begin()
            try:
                yield engine
            finally:
                await asyncio.to_thread(isolation.stop)
                if not await engine.stop():
                    with suppress(OSError):  # of the disk that the database is on
                        options.directory.note_killed(os.getpid())
                await keeper.stop()


async def try_tree(options: Options, config: cfg.ConfigOpts) -> None:
    """Run the suspects of a tree of stacks, beside the engine of the data directory (see `isolation`)."""
    stop, root_id = handle_signals("stoker up"), str(options.trial)
    async with (
        opened_database(config) as database,
        made_engine(config, database, cloud_name=options.cloud, trial=root_id) as engine,
    ):
        await try_suspects(engine, root_id, stop)


async def read(options: Options, config: cfg.ConfigOpts) -> None:
    """Serve reads, beside the engine of the data directory (see `readers`)."""
    from stoker.processes.reader import serve_reads

    await serve_reads(config, options.cloud, int(str(options.reader_fd)))


def _work(options: Options) -> Callable[[Options, cfg.ConfigOpts], Coroutine[object, object, None]]:
    if options.reader_fd is not None:
        return read
    return try_tree if options.trial else serve


async def serve(options: Options, config: cfg.ConfigOpts) -> None:
    """Serve until SIGTERM or SIGINT; unfinished operations are taken over while requests are served.

    Raises OSError when a port is in use.
    """
    from stoker.processes.reader_services import ServicesWithReaders
    from stoker.processes.readers import Readers  # a process that is one, or runs a trial, has none

    loop = asyncio.get_running_loop()
    stop = handle_signals("stoker up")
    async with running_engine(options, config) as engine:
        service = Dispatcher(engine, OPERATIONS)
        readers = Readers(DirectClient(loop, service), READING, options.for_reader(), readers_of(config))
        client = ServicesWithReaders(readers, engine.services.clock.now)
        report_section("Reads", readers.values)
        check = caller_check(config, engine.services.clock)
        policy = await asyncio.to_thread(Policy, config)
        application = await asyncio.to_thread(make_app, config, client, check, policy)
        beside = with_console(config, application, engine.services.clock)
        application = with_progress(engine, beside, client.readiness)
        query_application = await asyncio.to_thread(make_cfn_app, config, client, policy=policy)
        interfaces: tuple[tuple[Any, int, str], ...] = (
            (_with_login(options, application), options.api_port, "heat_api"),
            (query_application, options.cfn_port, "heat_api_cfn"),
        )
        async with AsyncExitStack() as serving:
            serving.push_async_callback(asyncio.to_thread, readers.stop)
            for interface, port, group in interfaces:
                threads, limits = serving_threads(config, group), server_limits(config, group)
                server = Server(interface, _HOST, port, threads, limits)
                server.start()
                serving.push_async_callback(partial(asyncio.to_thread, server.stop))
            _log.info("The API is at http://%s:%d/v1", _HOST, options.api_port)
            reduce_garbage_collection()
            await engine.take_over()
            report_ready(options.ready_fd)
            serving.push_async_callback(service.stop, _LAST_CALLS_SECONDS)
            await stop.wait()
            _log.info("Stopping")


def _with_login(options: Options, application: WSGIApplication) -> WSGIApplication:
    """Return the REST API, on a real cloud with the identity service of clients."""
    if options.cloud is None:
        return application
    urls = {
        "orchestration": f"http://{_HOST}:{options.api_port}/v1/%(project_id)s",
        "cloudformation": f"http://{_HOST}:{options.cfn_port}/v1",
    }
    return LocalIdentity(application, partial(read_cloud, options.cloud), options.directory.local_password(), urls)


def main(arguments: list[str] | None = None) -> None:
    """Entry point. If the process cannot start, it prints one message and exits with status 1."""
    os.umask(PRIVATE_UMASK)
    options = Options.parsed(arguments)
    work = _work(options)
    configure_allocator()
    try:
        options.directory.make()
        with options.directory.engine_lock() if work is serve else nullcontext():
            config = configuration(options)
            set_logging_up(config, readable=True)
            log_unused_options(config)
            report_section("Settings", partial(shown_options, config))
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(work(options, config))
    except (StokerError, cfg.Error, OSError) as error:
        sys.exit(f"stoker: {error}")


if __name__ == "__main__":
    main()
