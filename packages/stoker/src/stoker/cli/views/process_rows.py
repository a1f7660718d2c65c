"""The processes of a data directory, as rows for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stoker.processes import control, supervisor
from stoker.processes.directory import DataDirectory, SetUp
from stoker.processes.supervisor import History, histories

Row = dict[str, Any]

_READER = "reader"


def process_rows(directory: DataDirectory, set_up: SetUp) -> list[Row]:
    """Return a row for each program, and for each process that serves reads beside the engine."""
    rows, known = [], histories(directory)
    supervised = control.running(directory, supervisor.NAME) is not None
    for program in control.programs_of(directory, set_up):
        pid, history = control.running(directory, program.name), known.get(program.name, History())
        readiness = control.readiness(program) if pid and program.name == control.ENGINE else {}
        state = _running(control.takeover_of(readiness)) if pid else "restarting" if supervised else "stopped"
        row: Row = {
            "program": program.title,
            "state": state,
            "pid": pid,
            "address": program.url,
            "reason": history.reason.partition("\n")[0],
            "restarts": history.restarts,
            "log": str(directory.log_file(program.name)),
        }
        rows += [row, *_readers(readiness.get("readers"), row["log"])]
    return rows


def all_run(rows: Sequence[Mapping[str, object]]) -> bool:
    """Return whether all programs run; processes that serve reads are not always needed."""
    return all(row["pid"] is not None for row in rows if row["program"] != _READER)


def _readers(readers: Mapping[str, Any] | None, log: str) -> Iterator[Row]:
    """Yield the rows of readers; one without a process if there are none, and one has failed."""
    if not readers:
        return
    common = {"address": "", "reason": readers["reason"], "restarts": readers["restarts"], "log": log}
    for process in readers["processes"]:
        yield {"program": _READER, "state": process["state"], "pid": process["pid"], **common}
    if readers["reason"] and not readers["processes"]:
        yield {"program": _READER, "state": "not needed" if readers["most"] else "not used", "pid": None, **common}


def _running(progress: tuple[int, int] | None) -> str:
    return f"running, resumed {progress[0]} of {progress[1]} operations" if progress else "running"
