"""Logging as a whole process sets it up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROCESS = """
import logging, sys
from stoker.base.config import load_config
from stoker.base.context import RequestContext
from stoker.base.logging import operation_scope, request_scope, setup

setup(load_config(sys.argv[1:], []), readable=True)
log = logging.getLogger("stoker.somewhere")
log.info("without a request")
logging.getLogger("keystoneauth").info("chatter of a library")
log.debug("only when debugging")
with request_scope(RequestContext("req-7", "u", "alice", "p", token="t")):
    log.info("password=%s", "hunter2")
    try:
        raise ValueError("X-Auth-Token: abc")
    except ValueError:
        log.exception("failed")
with operation_scope("op-9", RequestContext("req-8", "u", "alice", "p", token="t")):
    log.warning("at work")
log.info("after all requests")
"""


def lines(*arguments: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", PROCESS, *arguments], capture_output=True, text=True, check=True)
    return done.stderr.splitlines()


def test_text_log_format() -> None:
    printed = lines()
    assert printed[0].endswith("INFO    stoker.somewhere: without a request")
    assert printed[1].endswith("INFO    stoker.somewhere: [req-7] password=***")
    assert printed[-2].endswith("WARNING stoker.somewhere: [req-8] [operation op-9] at work")
    assert printed[-1].endswith("INFO    stoker.somewhere: after all requests")
    assert not any("chatter" in line or "debugging" in line for line in printed)
    assert any(line.endswith("ValueError: X-Auth-Token: ***") for line in printed)


def test_json_log_format() -> None:
    records = [json.loads(line) for line in lines("--use-json", "--debug")]
    assert records[0]["message"] == "without a request"
    by_message = {record["message"]: record for record in records}
    assert by_message["password=***"]["context"]["request_id"] == "req-7"
    assert "only when debugging" in by_message
    assert "X-Auth-Token: ***" in "".join(by_message["failed"]["traceback"])
    assert not any(secret in json.dumps(records) for secret in ("abc", "hunter2"))
    assert by_message["at work"]["extra"] == {"operation_id": "op-9"}
    assert by_message["at work"]["context"]["request_id"] == "req-8"
    assert "request_id" not in by_message["after all requests"]["context"]


def test_lines_of_a_traceback_start_with_a_prefix(tmp_path: Path) -> None:
    configuration = tmp_path / "stoker.conf"
    configuration.write_text("[DEFAULT]\nlogging_exception_prefix = trace:\n")
    for arguments, prefix in ((), "  | "), (("--config-file", str(configuration)), "trace:"):
        printed = lines(*arguments)
        first = next(number for number, line in enumerate(printed) if "failed: ValueError" in line) + 1
        last = next(number for number, line in enumerate(printed) if number > first and "ValueError" in line)
        assert last - first >= 2
        assert all(line.startswith(prefix) for line in printed[first : last + 1])
