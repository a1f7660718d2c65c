"""The options that say what a plan compares with the cloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

no_refresh_option = click.option(
    "--no-refresh", "skip_refresh", is_flag=True, help="Do not compare with the cloud: go by the record alone."
)

_refresh_option = click.option(
    "--refresh", "refresh", is_flag=False, flag_value="all", type=click.Choice(["changes", "all"]),
    help="Compare with the cloud, and correct differences: what the change touches and depends on, or, also without a "
    "value, the whole stack.  [default: changes]",
)  # fmt: skip


def refresh_options(function: Command) -> Command:
    """Add --refresh and --no-refresh, whose values `extent` combines."""
    return no_refresh_option(_refresh_option(function))


def extent(refresh: str | None, skip: bool) -> str:
    """Return what the service compares with the cloud. Raises UsageError if the options contradict each other."""
    if skip and refresh is not None:
        raise click.UsageError("--refresh and --no-refresh contradict each other: give one of them.")
    return "none" if skip else refresh or "changes"
