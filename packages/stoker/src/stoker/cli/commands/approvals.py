"""`stoker approve`, `approvals`, `break-glass` and `change-control`: changes that need the approval of other people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from stoker.cli.client.change_requests import ChangeRequests, control, control_path, webhook_key_of
from stoker.cli.client.refusals import Answer
from stoker.cli.client.saved_plans import SavedPlan, is_plan
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.completion import stack_names
from stoker.cli.framework import format_option, listing, with_service, yes_option
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import RECORD_FORMATS, show_record
from stoker.cli.terminal.messages import say


def _with_words(rows: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    return ("waits_for",) if any(row["lacks"] for row in rows) else ()


@listing(
    "approvals", "id", "stack_name", "action", "status", "user_name", "expires_at",
    more=("stack_id", "plan_digest", "requires", "lacks", "approvals", "emergency", "operation", "created_at"),
    spare=("expires_at",),
    shown=_with_words, empty="No changes wait for your approval.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="List all requests, also those that do not wait for you.")
@with_service
def approvals(service: StackClient, everything: bool) -> list[Answer]:
    """List the changes that wait for your approval.

    \b
    Examples:
      stoker approvals
      stoker approvals --all
      stoker approvals -f value -c id
    """
    requests = ChangeRequests(service).listed(() if everything else ("WAITING",))
    rows = [row for row in requests if everything or row["waits_for_caller"]]
    return [{**row, "waits_for": _needs(row["lacks"])} for row in rows]


@click.command("approve")
@click.argument("request", metavar="REQUEST|FILE.plan")
@click.option("--reject", is_flag=True, help="Reject the change instead.")
@click.option("--comment", default="", metavar="TEXT", help="What others should know about it.")
@yes_option
@with_service
def approve(service: StackClient, request: str, reject: bool, comment: str, yes: bool) -> None:
    """Approve the change REQUEST, after showing its plan; or that of a saved plan.

    Its author cannot approve it. The approval is valid for exactly this plan, once, until the request expires. It
    replaces an earlier approval or rejection of yours.

    \b
    Examples:
      stoker approve 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
      stoker approve web.plan --comment "as discussed"
      stoker approve web.plan --reject
    """
    from stoker.cli.commands.deployment import confirm

    requests = ChangeRequests(service)
    change_request = _found(requests, request)
    _show(change_request)
    confirm("Reject this change?" if reject else "Approve this change?", yes)
    reviewed = requests.review(change_request["id"], "REJECTED" if reject else "APPROVED", comment)
    left = f" It still needs the approval of {_needs(reviewed['lacks'])}." if reviewed["status"] == "WAITING" else ""
    say(f"The change of {reviewed['stack_name']} is {reviewed['status'].lower()}.{left}")


@click.command("break-glass")
@click.argument("request", metavar="REQUEST|FILE.plan")
@click.option("--reason", required=True, metavar="TEXT", help="Why; the events of the stack and the log have it.")
@with_service
def break_glass(service: StackClient, request: str, reason: str) -> None:
    """Allow the change REQUEST, or that of a saved plan, in an emergency: without approvals, outside of windows.

    \b
    Examples:
      stoker break-glass 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e --reason "outage"
      stoker break-glass web.plan --reason "outage"
    """
    requests = ChangeRequests(service)
    allowed = requests.break_glass(_found(requests, request)["id"], reason)
    say(f"The change of {allowed['stack_name']} is allowed, once. Repeat it now.")


def _found(requests: ChangeRequests, named: str) -> Answer:
    """Return the request with an ID, or the newest one about a saved plan. Raises CommandFailed."""
    if not is_plan(Path(named)):
        return requests.show(named)
    saved = SavedPlan.read(Path(named))
    rows = requests.listed(digest=saved.digest)
    if not rows:
        raise CommandFailed(f"Nobody has asked for approval of {named}: `stoker deploy {named}` does.")
    return requests.show(rows[0]["id"])


def _show(change_request: Answer) -> None:
    from stoker.cli.views.plans import show_plan

    if change_request["plan"] is not None:
        show_plan(change_request["stack_name"], change_request["plan"])
    user, expires_at = change_request["user_name"] or change_request["user_id"], change_request["expires_at"]
    say(f"{change_request['action']} of {change_request['stack_name']}, asked for by {user}, valid until {expires_at}.")
    for approval in change_request["approvals"]:
        comment = f": {approval['comment']}" if approval["comment"] else "."
        say(f"{approval['verdict'].capitalize()} by {approval['user_name'] or approval['user_id']}{comment}")


def _needs(requirements: list[Answer]) -> str:
    return ", ".join(
        f"{requirement['number']} x {requirement['role'] or 'anybody else'}" for requirement in requirements
    )


@click.command("change-control")
@click.argument("name", required=False, shell_complete=stack_names)
@click.option(
    "--set", "source", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Set what this file says, in JSON or YAML.",
)  # fmt: skip
@click.option("--remove", is_flag=True, help="Remove what is set.")
@format_option(RECORD_FORMATS, "yaml")
@with_service
def change_control(service: StackClient, name: str | None, source: Path | None, remove: bool, form: str) -> None:
    """Show what changes of the stack NAME need, or without NAME, of all stacks of the project; or set or remove it.

    That are approvals of other people, change windows and freezes.

    \b
    Examples:
      stoker change-control web
      stoker change-control web --set control.yaml
      stoker change-control --set control.yaml
      stoker change-control web --remove
    """
    if source is not None and remove:
        raise click.UsageError("--set and --remove contradict each other: give one of them.")
    stack = service.stack(name).facts if name is not None else None
    whose = name or "all stacks of the project"
    if source is not None:
        answer = service.call("PUT", control_path(stack), {"change_control": _read(source)})["change_control"]
        say(f"Changes of {whose} need what {source} says.")
        if sentence := webhook_key_of(answer):
            say(sentence)
    elif remove:
        service.call("DELETE", control_path(stack))
        say(f"Nothing is set for {whose} any more.")
    else:
        show_record(control(service, stack), form)


def _read(source: Path) -> Answer:
    """Return what a file says. Raises CommandFailed."""
    import yaml

    try:
        found = yaml.safe_load(source.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CommandFailed(f"Cannot read {source}: {error}") from None
    if not isinstance(found, dict):
        raise CommandFailed(f"{source} must be a map with keys such as approvals and windows.")
    for period in [*(found.get("windows") or ()), *(found.get("freezes") or ())]:
        if isinstance(period, dict):  # YAML reads times that JSON does not have
            period.update({key: value.isoformat() for key, value in period.items() if hasattr(value, "isoformat")})
    return found
