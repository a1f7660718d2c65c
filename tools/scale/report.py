"""The table of a rehearsal: what was done, how long it took, what was used, and what would be used up first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tools.scale.cluster import ZONES
from tools.scale.rehearsal import Found
from tools.scale.servers import READERS, Use

TAKEOVER_SECONDS = 30.0
"""In so many seconds, living engines own what those of a zone that died have owned."""
KEPT_UP = 0.95
"""The part of the requested work that is done at least by a cluster that keeps up."""
WAITED_SECONDS = 0.001
"""Rows that were waited for in all so long are shared: an engine waits for none of its own."""
SHOWN = 8
"""Rows of a list that is shown."""

REAL = """\
Real: the engines' code (planner, journal, ownership, claims, takeovers, resource types), their statements on a real
  database (SQLite) with all rows of the estate, the objects of an emulated cloud, lost messages and failing calls.
Modelled: how long things take. Each callback of an engine takes the mean processor time of its kind, on one processor
  for each engine; a statement, a flush of the log, a row that another transaction has locked, and a message take as
  long as the servers' models say. API processes are a time for each request.
Measured: {source}.
Assumed: {network:.1f} ms between two machines; {call:.0f} ms for a call of the cloud, exponentially distributed;
  {processors} processors of the database server.
Sampled: of the life of the estate, {seconds:.0f} seconds are rehearsed. A quarter of the recorded resources belong to
  deleted stacks, as in an estate that has been used; their rows are copies of what engines have recorded."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that is used: `part` of it is 1.0 when it is used up."""

    name: str
    part: float


def limits(found: Found) -> list[Limit]:
    """What is used, the scarcest first."""
    sums, seconds, cluster = found.at_end, found.seconds, found.cluster
    engines = [sums[f"engine {number}"] / seconds for number in range(len(cluster.members))]
    apis = [sums[f"api {number}"] / seconds for number in range(len(cluster.apis))]
    processors = found.size.database_processors
    used = [
        Limit("processors of the database server", sums["database processors"] / seconds / processors),
        Limit("processor of the busiest engine", max(engines)),
        Limit("processors of the engines, mean", sum(engines) / len(engines)),
        Limit("processor of the busiest API process", max(apis)),
        Limit("message broker", sums["broker"] / seconds),
    ]
    shared = [(key, row) for key, row in cluster.server.rows.items() if row.use.waited >= WAITED_SECONDS]
    for (table, key), row in sorted(shared, key=lambda item: -item[1].use.busy)[:1]:
        used.append(
            Limit(f"the row of {table} that is locked longest ({_short(key)})", row.use.busy / cluster.loop_seconds)
        )
    return sorted(used, key=lambda limit: -limit.part)


def complaints(found: Found) -> list[str]:
    """What does not come up to the goals; empty when all is well."""
    problems = []
    requested = found.size.rate
    done = found.completed / found.seconds
    if done < KEPT_UP * requested:
        problems.append(f"{done:.0f} of {requested:.0f} resource operations per second were done")
    last = found.takeover.last
    if found.takeover.operations and (last is None or last > TAKEOVER_SECONDS):
        problems.append(f"the takeover took {_seconds(last)}, longer than {TAKEOVER_SECONDS:.0f} s")
    problems += [f"a statement looks at {scan.rows} rows of {scan.table}" for scan in found.scans]
    return problems


def lines(found: Found) -> Iterator[str]:
    """The lines of the report."""
    size, sums, seconds = found.size, found.at_end, found.seconds
    cluster, seen = found.cluster, found.users.seen
    resources, stacks = found.recorded
    journals = [sums[f"journal {number}"] / seconds for number in range(len(cluster.members))]
    yield REAL.format(
        source=found.latencies.source,
        network=found.latencies.network_trip * 1000,
        call=size.call_seconds * 1000,
        processors=size.database_processors,
        seconds=size.warming + size.measured + size.after,
    )
    yield ""
    yield f"seed {size.seed}: {resources:,} resources in {stacks:,} outermost stacks"
    yield f"  {size.engines} engines in {ZONES} zones, {size.apis} API processes, {size.projects} projects"
    yield f"  {size.waiting:,} operations wait for something in the cloud all the time"
    yield f"  {size.fault_rate:.0%} of the calls of the cloud fail, {size.loss_rate:.0%} of the messages are lost"
    yield ""
    yield from _table(
        "throughput",
        [
            ("resource operations per second, requested", f"{size.rate:.0f}"),
            ("the same, done", f"{found.completed / seconds:.0f}"),
            ("requests to the API per second", f"{sums['requests'] / seconds:.0f}"),
            ("unfinished operations, before and after", "{} → {}".format(*found.backlog)),
        ],
    )
    yield from _table("seconds from request to answer (median, 95 %, most)", _spread(seen.answers))
    yield from _table("seconds from request to the end, as users see it (median, 95 %, most)", _spread(seen.operations))
    yield from _table(
        "database",
        [
            ("statements per second", f"{sums['statements'] / seconds:.0f}"),
            ("statements for each resource operation", f"{sums['statements'] / max(found.completed, 1):.1f}"),
            ("commits per second", f"{sums['commits'] / seconds:.0f}"),
            ("connections of all engines, at most", str(len(cluster.members) * (READERS + 1))),
            ("flushes of the log: part of the time", f"{sums['log of the database'] / seconds:.0%}"),
            ("commits in progress: part of the time, busiest engine", f"{max(journals):.0%}"),
            ("waited for locks, in all; longest", _waited(cluster.server.locks)),
            ("distinct statements; those that scan", f"{len(found.recorder.examples)}; {len(found.scans)}"),
        ],
    )
    yield from _table("statements per second, by kind", _largest(sums, "statement ", seconds))
    yield from _table("messages per second, by kind", _largest(sums, "message ", seconds))
    rows = sorted(cluster.server.rows.items(), key=lambda item: -item[1].use.waited)[:SHOWN]
    yield from _table(
        "rows that were waited for (times locked; waited in all, longest)",
        [
            (f"{table} {_short(key)}", f"{row.use.times}; {_waited(row.use)}")
            for (table, key), row in rows
            if row.use.waited >= WAITED_SECONDS
        ],
    )
    takeover = found.takeover
    yield from _table(
        f"a zone of {takeover.engines} engines dies",
        [
            ("unfinished operations that they owned", str(takeover.operations)),
            ("the first is taken over after", _seconds(takeover.first)),
            ("the last is taken over after", _seconds(takeover.last)),
            ("not taken over", str(takeover.left)),
        ],
    )
    yield from _table("trouble", [(name, str(number)) for name, number in _trouble(found)])
    if found.scans:
        yield from _table(
            "statements that scan", [(f"{scan.table} {scan.index or ''}", scan.statement[:200]) for scan in found.scans]
        )
    scarce = limits(found)
    yield from _table("used", [(limit.name, f"{limit.part:.0%}") for limit in scarce])
    first = scarce[0]
    rate = found.completed / seconds
    most = rate / max(first.part, 1e-9)
    yield f"The first limit: {first.name}, used up at about {most:,.0f} resource operations per second."
    problems = complaints(found)
    yield "The goals hold." if not problems else "The goals do not hold: " + "; ".join(problems) + "."


def _trouble(found: Found) -> Iterator[tuple[str, int]]:
    counts = found.users.seen.counts
    names = (
        "requests without an answer",
        "requests refused",
        "reads without a result",
        "operations requested",
        "operations seen to end",
        "operations failed",
    )
    yield from ((name, counts[name]) for name in names)
    yield "calls of the cloud that failed", found.faults.total()
    yield from sorted(found.users.seen.unexpected.items())


def _table(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not rows:
        return
    yield title
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield f"  {name:<{width}}  {value}"
    yield ""


def _spread(times: dict[str, list[float]]) -> list[tuple[str, str]]:
    rows = []
    for kind, seconds in sorted(times.items()):
        ordered = sorted(seconds)
        values = (_at(ordered, 0.5), _at(ordered, 0.95), ordered[-1])
        rows.append((kind, "{:.3f}  {:.3f}  {:.3f}".format(*values) + f"  ({len(ordered)})"))
    return rows


def _at(ordered: Sequence[float], part: float) -> float:
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def _largest(sums: dict[str, float], prefix: str, seconds: float) -> list[tuple[str, str]]:
    found = [(name.removeprefix(prefix), value) for name, value in sums.items() if name.startswith(prefix)]
    found = sorted(found, key=lambda item: (-item[1], item[0]))[:SHOWN]
    return [(name, f"{value / seconds:.1f}") for name, value in found if value]


def _waited(use: Use) -> str:
    return f"{use.waited:.1f} s; {use.longest:.3f} s"


def _seconds(value: float | None) -> str:
    return "not in this time" if value is None else f"{value:.1f} s"


def _short(key: object) -> str:
    return str(key)[:24]


def text(found: Found) -> str:
    """The report."""
    return "\n".join(_trimmed(lines(found)))


def _trimmed(every: Iterable[str]) -> Iterator[str]:
    return (line.rstrip() for line in every)
