"""The operator's settings for the engine, with heat.conf's names and defaults."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stoker.engine.change_control import Control
from stoker.engine.operator_environment import OperatorEnvironment
from stoker.engine.plan_policies.policy import Policy
from stoker.engine.price_list import PriceList

if TYPE_CHECKING:  # where somebody is notified or asked
    from stoker.base.mail import MailSettings
    from stoker.base.webhooks import WebhookSettings


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Limits and options; for those of Heat, -1 means no limit, as in Heat.

    `operator` is the environment below that of every stack; `type_options` are the options that resource types can
    read. An engine that has begun `nested_at_once` operations which have no plan yet offers further ones of nested
    stacks to others.
    """

    host: str = field(default_factory=socket.gethostname)
    max_resources_per_stack: int = 1000
    max_nested_stack_depth: int = 5
    max_stacks_per_tenant: int = 512
    max_snapshots_per_stack: int = 32
    enable_stack_abandon: bool = False
    enable_stack_adopt: bool = False
    max_software_configs_per_tenant: int = 4096
    max_software_deployments_per_tenant: int = 4096
    max_events_per_stack: int = 1000
    event_purge_batch_size: int = 200
    stack_action_timeout: int = 3600
    action_retry_limit: int = 5
    observe_on_update: bool = False
    preflight: bool = True
    preflight_skipped: tuple[str, ...] = ()
    prices: PriceList | None = None
    plan_policies: tuple[Policy, ...] = ()
    change_control: Control | None = None
    webhooks: WebhookSettings | None = None
    mail: MailSettings | None = None
    healing_interval: int = 60
    maintenance: bool = False
    drift_mode: str = "off"
    drift_interval: int = 600
    drift_calls_per_minute: int = 300
    drift_replacements: int = 5
    max_template_size: int = 524288
    yaql_limit_iterators: int = 200
    yaql_memory_quota: int = 10000
    evaluation_steps: int = 5_000_000
    evaluation_bytes: int = 128 * 1024 * 1024
    evaluation_seconds: float = 5.0
    evaluation_seconds_at_once: float = 0.01
    evaluation_memory: int = 64 * 1024 * 1024
    region_name: str | None = None
    hidden_stack_tags: tuple[str, ...] = ()
    validation_seconds: float = 20.0
    deleted_stacks_days: int = 90
    deleted_stacks_kept: int = 10_000
    events_days: int = 365
    operations_days: int = 365
    max_operations_per_stack: int = 1000
    archive_directory: str | None = None
    lease_seconds: float = 15.0
    heartbeat_seconds: float = 3.0
    nested_at_once: int = 4
    engine_deaths_limit: int = 3
    set_aside_seconds: float = 900.0
    operator: OperatorEnvironment = field(default_factory=OperatorEnvironment)
    type_options: Mapping[str, object] = field(default_factory=dict)


def observation_seconds(settings: EngineSettings) -> float:
    """Return the seconds that services may take to show a whole stack or project, so that the checks of values that
    follow end before the sender of the request gives up.
    """
    return 1.5 * settings.validation_seconds
