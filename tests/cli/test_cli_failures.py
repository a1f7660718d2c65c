"""Rollback and retry after a failed operation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = """
heat_template_version: 2021-04-16
parameters: {fails: {type: boolean}}
resources: {thing: {type: OS::Heat::TestResource, properties: {value: {get_param: fails}, fail: {get_param: fails}}}}
"""


def test_rollback_requires_a_former_definition(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "offers.yaml"
    template.write_text(TEMPLATE)
    deploy = ("deploy", "offers", "-t", str(template), "--yes")
    first = embedded.fails(*deploy, "-P", "fails=true")
    assert "stoker stack retry offers" in first and "stoker delete offers" in first and "stack rollback" not in first
    embedded.ok(*deploy, "-P", "fails=false")
    later = embedded.fails(*deploy, "-P", "fails=true")
    assert "stoker stack rollback offers" in later and "delete" not in later


def test_retry_skips_named_resources(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "skips.yaml"
    template.write_text(TEMPLATE)
    deploy = ("deploy", "skips", "-t", str(template), "--yes")
    embedded.ok(*deploy, "-P", "fails=false")
    embedded.fails(*deploy, "-P", "fails=true")
    assert "did you mean 'thing'" in embedded.fails("stack", "retry", "skips", "--skip", "thin")
    planned = embedded.ok("stack", "retry", "skips", "--dry-run").out
    assert "thing  OS::Heat::TestResource" in planned and "Skipped" not in planned
    without = embedded.ok("stack", "retry", "skips", "--skip", "thing", "--dry-run").out
    assert "No changes" in without and "Skipped, as requested, and left as they are: thing." in without
    assert without.count("thing") == 1
    done = embedded.ok("stack", "retry", "skips", "--skip", "thing").out
    assert "left as they are: thing." in done and "skips: UPDATE_COMPLETE" in done
    assert "skipped, as requested" in embedded.ok("logs", "skips").out
