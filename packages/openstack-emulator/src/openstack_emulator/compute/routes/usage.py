"""Usage of servers by project, and its audit, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from openstack_emulator.compute.records import Usage
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.views import usage_view
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.rules import MICROSECONDS

FORMS = ("%Y-%m-%dT%H:%M:%S", MICROSECONDS, "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")
PERIOD = timedelta(weeks=4)
PAGED = (2, 40)


def parse_moment(text: str) -> datetime:
    """A time of day as clients write it, UTC; 400 when it is none."""
    for form in FORMS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise bad_request(f"Invalid timestamp: {text}. It must have the form YYYY-MM-DDThh:mm:ss.")


def _period(compute: ComputeService, request: Request) -> tuple[datetime, datetime]:
    """The period that the query asks for; by default the last four weeks."""
    start, end = (request.query.get(name) for name in ("start", "end"))
    stop = parse_moment(end) if end else compute.now()
    begin = parse_moment(start) if start else stop - PERIOD
    if begin >= stop:
        raise bad_request("Invalid start time. The start time cannot occur after the end time.")
    return begin, stop


@dataclass(frozen=True)
class ServerUsage:
    """What a server used in the period that was asked for. uptime: in seconds, since it was launched."""

    usage: Usage
    hours: float
    uptime: float

    def get(self, name: str) -> Any:
        """See `typed.Readable`."""
        return self.usage.get(name)


def _usages(compute: ComputeService, request: Request, project: str | None) -> Iterator[ServerUsage]:
    """The usage of the servers of a project, or of all projects, in the period; deleted servers included."""
    begin, stop = _period(compute, request)
    for row in compute.reports.usages.of_project(project):
        started = parse_moment(row.started_at)
        ended = None if row.ended_at is None else parse_moment(row.ended_at)
        if started < stop and (ended is None or ended > begin):
            until = min(stop, ended or compute.now())
            hours = max(0.0, (until - max(begin, started)).total_seconds()) / 3600
            yield ServerUsage(row, hours, ((ended or compute.now()) - started).total_seconds())


def _total(
    compute: ComputeService, request: Request, project: str, usages: list[ServerUsage], detailed: bool
) -> dict[str, Any]:
    begin, stop = _period(compute, request)
    view = {
        "tenant_id": project,
        "start": begin.strftime(MICROSECONDS),
        "stop": stop.strftime(MICROSECONDS),
        "total_hours": sum(row.hours for row in usages),
        "total_vcpus_usage": sum(row.hours * row.usage.vcpus for row in usages),
        "total_memory_mb_usage": sum(row.hours * row.usage.memory_mb for row in usages),
        "total_local_gb_usage": sum(row.hours * row.usage.local_gb for row in usages),
    }
    if not detailed:
        return view
    return {**view, "server_usages": [usage_view(row.usage, row.hours, row.uptime) for row in usages]}


def list_usages(compute: ComputeService, request: Request) -> Response:
    """Usage by project."""
    if not request.context.is_admin:
        raise forbidden("Policy doesn't allow os_compute_api:os-simple-tenant-usage:list to be performed.")
    usages, links = _shown(request, list(_usages(compute, request, None)))
    by_project: dict[str, list[ServerUsage]] = {}
    for row in usages:
        by_project.setdefault(row.usage.tenant_id, []).append(row)
    detailed = request.query.get("detailed") == "1"
    rows = [_total(compute, request, project, members, detailed) for project, members in by_project.items()]
    return Response({"tenant_usages": rows, **({"tenant_usages_links": links} if links else {})})


def show_usage(compute: ComputeService, request: Request) -> Response:
    """Usage of one project, server by server; empty when it had none."""
    project = request.vars["target_id"]
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow os_compute_api:os-simple-tenant-usage:show to be performed.")
    usages, links = _shown(request, list(_usages(compute, request, project)))
    view = _total(compute, request, project, usages, detailed=True) if usages else {}
    return Response({"tenant_usage": view, **({"tenant_usage_links": links} if links else {})})


def _shown(request: Request, usages: list[ServerUsage]) -> tuple[list[ServerUsage], list[dict[str, str]]]:
    """A page of servers since microversion 2.40, all of them before."""
    if request.version < PAGED:
        return usages, []
    shown = page(usages, request.query, key="instance_id")
    return shown.rows, shown.links(request)


def show_audit(compute: ComputeService, request: Request) -> Response:
    return Response({"instance_usage_audit_log": _audit(compute, request, parse_moment(request.vars["before"]))})


def list_audit(compute: ComputeService, request: Request) -> Response:
    return Response({"instance_usage_audit_logs": _audit(compute, request, compute.now())})


def _audit(compute: ComputeService, request: Request, before: datetime) -> dict[str, object]:
    """The audit of the month before: no host ran it, as where `instance_usage_audit` is off."""
    if not request.context.is_admin:
        raise forbidden("Policy doesn't allow os_compute_api:os-instance-usage-audit-log to be performed.")
    end = before.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    begin = (end - timedelta(days=1)).replace(day=1)
    hosts = [host.id for host in compute.hosts.rows]
    return {
        "period_beginning": begin.strftime("%Y-%m-%d %H:%M:%S"),
        "period_ending": end.strftime("%Y-%m-%d %H:%M:%S"),
        "num_hosts": len(hosts),
        "num_hosts_done": 0,
        "num_hosts_running": 0,
        "num_hosts_not_run": len(hosts),
        "hosts_not_run": hosts,
        "total_instances": 0,
        "total_errors": 0,
        "overall_status": f"0 of {len(hosts)} hosts done. 0 errors.",
        "log": {},
    }
