"""The parameters that can be set in each datastore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.problems import Check

_CHECKS: Mapping[str, Check] = {
    "integer": fields.exact_integer(),
    "boolean": fields.one_of(0, 1),
    "string": fields.text(0, 1024),
}


@dataclass(frozen=True)
class Parameter:
    """A parameter: its type, whether a change of it needs a restart, and the range of a number."""

    name: str
    type: str
    restart_required: bool
    least: int | None = None
    most: int | None = None

    def check(self, value: Any) -> None:
        """Refuse a value. Raises ApiError 422."""
        if _CHECKS[self.type](value) is not None:
            raise ApiError(
                422, f"The value provided for the configuration parameter {self.name} is not of type {self.type}."
            )
        if self.least is not None and self.most is not None and not self.least <= value <= self.most:
            raise ApiError(
                422,
                f"The value for the configuration parameter {self.name} must be from {self.least} to {self.most}.",
            )


_MYSQL = (
    Parameter("autocommit", "boolean", False),
    Parameter("character_set_server", "string", False),
    Parameter("collation_server", "string", False),
    Parameter("connect_timeout", "integer", False, 2, 31536000),
    Parameter("innodb_buffer_pool_size", "integer", True, 5242880, 18446744073709551615),
    Parameter("innodb_flush_log_at_trx_commit", "integer", False, 0, 2),
    Parameter("innodb_log_buffer_size", "integer", True, 262144, 4294967295),
    Parameter("key_buffer_size", "integer", False, 0, 4294967295),
    Parameter("local_infile", "boolean", False),
    Parameter("max_allowed_packet", "integer", False, 1024, 1073741824),
    Parameter("max_connections", "integer", False, 1, 100000),
    Parameter("wait_timeout", "integer", False, 1, 31536000),
)
_POSTGRESQL = (
    Parameter("log_min_duration_statement", "integer", False, -1, 2147483647),
    Parameter("max_connections", "integer", True, 1, 262143),
    Parameter("shared_buffers", "string", True),
    Parameter("statement_timeout", "integer", False, 0, 2147483647),
    Parameter("work_mem", "integer", False, 64, 2147483647),
)
PRESETS: Mapping[str, tuple[tuple[str, ...], tuple[Parameter, ...]]] = {
    "mysql": (("8.0.29", "5.7.29"), _MYSQL),
    "mariadb": (("10.4.18",), _MYSQL),
    "postgresql": (("12.4",), _POSTGRESQL),
}
"""Datastore → its versions, the default one first, and its parameters."""
