"""What it costs to take over the operations of an engine that was killed, and whether heartbeats continue meanwhile.

The operations are those of groups of nested stacks, whose resources wait for hours.
`python -m tools.bench.takeover_cases COUNT` measures another number of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp

from tools.bench.lifecycle_cases import Client, cpu_seconds, lifted, peak_memory

COUNT = 5000
_MEMBERS = 98
_STACKS = _MEMBERS + 2
"""The stacks of a group: that of the request, that of the group, and those of the members."""
_SETTLING_SECONDS = 7.0
"""Seconds until the operations are recorded as waiting, at a heartbeat."""
_LONGEST_SECONDS = 3600.0
_STOKER = [sys.executable, "-c", "from stoker.cli.main import main; main()"]
_LEAF = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "waits": {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 36000}},
        **{f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(8)},
    },
}
_GROUP = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": _MEMBERS, "resource_def": {"type": "leaf.yaml"}},
        }
    },
}
_WAITING = "select count(*) from resources where type = 'OS::Heat::TestResource' and status = 'IN_PROGRESS'"
_OWNED = (
    "select count(*), sum(owner = (select id from engines order by started_at desc limit 1)) "
    "from operations where status in ('PENDING', 'RUNNING')"
)
_SEEN = "select seen_at from engines order by started_at desc limit 1"
_EPOCH = "select max(epoch) from operations where status in ('PENDING', 'RUNNING')"
_CHARGED = "select count(*) from operation_deaths where verdict = 'CHARGED'"


def measure(count: int = COUNT) -> list[dict[str, Any]]:
    """Return the record of the takeover of about `count` operations by the next embedded engine."""
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory, _started(directory) as data:
        groups = max(count // _STACKS, 1)
        asyncio.run(_fill(_place(data), groups))
        while _read(data, _WAITING) != [(groups * _MEMBERS,)]:
            time.sleep(1.0)
        time.sleep(_SETTLING_SECONDS)
        os.kill(_engine(data), signal.SIGKILL)
        began = time.monotonic()
        _run("up", "--detach", "--data-dir", str(data))
        served = time.monotonic() - began
        gap = _longest_gap(data, _engine(data))
        seconds, engine = time.monotonic() - began, _engine(data)
        [(total, _)] = _read(data, _OWNED)
        [(charged,)], [(epoch,)] = _read(data, _CHARGED), _read(data, _EPOCH)
        return [
            {
                "case": "takeover",
                "phase": "of operations",
                "n": total,
                "wall_s": round(seconds, 1),
                "cpu_total_s": round(cpu_seconds(engine), 1),
                "rss_max_mb": {"engine": peak_memory(engine)},
                "note": f"API after {served:.1f} s; heartbeats at most {gap.seconds:.1f} s apart, "
                f"{gap.processor:.1f} s of processor time; {charged} deaths charged; epochs up to {epoch}",
            }
        ]


@contextmanager
def _started(directory: str) -> Iterator[Path]:
    data = Path(directory) / "data"
    ports = ("--api-port", "0", "--cfn-port", "0", "--cloud-port", "0")
    _run("up", "--detach", "--data-dir", str(data), *ports, *lifted(directory))
    try:
        yield data
    finally:
        _run("down", "--data-dir", str(data))


def _run(*words: str) -> None:
    subprocess.run([*_STOKER, *words], check=True, stdout=subprocess.DEVNULL)


def _place(data: Path) -> dict[str, Any]:
    place: dict[str, Any] = json.loads((data / "endpoints.json").read_text())
    return place


def _engine(data: Path) -> int:
    return int((data / "engine.pid").read_text())


async def _fill(place: dict[str, Any], groups: int) -> None:
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        for number in range(groups):
            body = {"stack_name": f"group{number}", "template": _GROUP, "files": {"leaf.yaml": json.dumps(_LEAF)}}
            await client.call("POST", "orchestration", "/stacks", body)


@dataclass(slots=True)
class Gap:
    """The longest times between two heartbeats: of the clock, and of the engine's processor. On a busy machine, only
    the latter tells whether the engine itself is late.
    """

    seconds: float = 0.0
    processor: float = 0.0


def _longest_gap(data: Path, engine: int) -> Gap:
    """Return the longest gap of the last engine, whose process is given, until it owns all operations."""
    seen: dict[float, float] = {}
    end = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < end:
        [(last,)] = _read(data, _SEEN)
        seen.setdefault(last, cpu_seconds(engine))
        total, owned = _read(data, _OWNED)[0]
        if total == owned and len(seen) > 1:
            break
        time.sleep(0.2)
    gaps = [Gap(later - earlier, seen[later] - seen[earlier]) for earlier, later in pairwise(seen)]
    return Gap(max((gap.seconds for gap in gaps), default=0.0), max((gap.processor for gap in gaps), default=0.0))


def _read(data: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{data / 'stoker.db'}?mode=ro", uri=True, timeout=60)) as connection:
        return connection.execute(query).fetchall()


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT), indent=1))
