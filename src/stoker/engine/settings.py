"""The operator's choices that the engine obeys, with heat.conf's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Limits and habits (facts: engine.yaml, config_defaults). -1 means no limit where Heat says so."""

    max_resources_per_stack: int = 1000
    max_nested_stack_depth: int = 5
    max_stacks_per_tenant: int = 512
    max_events_per_stack: int = 1000
    event_purge_batch_size: int = 200
    stack_action_timeout: int = 3600
    action_retry_limit: int = 5
    max_template_size: int = 524288
    region_name: str | None = None
    hidden_stack_tags: tuple[str, ...] = ()
    deferred_auth_method: str = "trusts"
    lease_seconds: float = 15.0
    heartbeat_seconds: float = 3.0
    type_options: Mapping[str, Any] = field(default_factory=dict)
