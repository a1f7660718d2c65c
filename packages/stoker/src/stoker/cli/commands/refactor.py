"""`stoker refactor …`: move resources between stacks, by new definitions of several stacks at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from stoker.authoring.plan_steps import policy_sentences
from stoker.cli.client.refusals import Answer, Refused
from stoker.cli.client.stack_client import StackClient
from stoker.cli.framework import Commands, key_values, listing, pairs_of, progress_format, with_service, yes_option
from stoker.cli.terminal.errors import CommandFailed, TemplateRefused
from stoker.cli.terminal.formats import cell, show_record, show_rows
from stoker.cli.terminal.messages import say

if TYPE_CHECKING:
    from stoker.base.diagnostics import Diagnostic
    from stoker.cli.client.sources import Sources
    from stoker.cli.views.reports import Report

_AVAILABLE = "AVAILABLE"


@dataclass(slots=True)
class Definition:
    """The new definition of a stack: its files, and values of parameters."""

    sources: Sources
    parameters: dict[str, str] = field(default_factory=dict)

    def body(self) -> Answer:
        """Return it as the service takes it."""
        return {**self.sources.definition(), "parameters": self.parameters}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A refactoring that the service has examined, with what it does."""

    refactor: Answer
    actions: Answer

    @property
    def changes(self) -> Answer:
        """The plans of what it changes besides, by the names of the stacks."""
        changes: Answer = self.actions.get("changes", {})
        return changes

    @property
    def is_possible(self) -> bool:
        """Whether it can be carried out now."""
        return bool(self.refactor["execution_status"] == _AVAILABLE)

    def show(self, form: str) -> None:
        """Print what it does on both sides, and why it cannot be carried out."""
        if form == "json":
            more = {name: self.actions.get(name, {}) for name in ("changes", "policies")}
            show_record({**self.refactor, "moves": self.actions["moves"], **more}, form)
            return
        moves = [
            {
                "from": f"{move['from']['stack']}/{move['from']['resource']}",
                "to": f"{move['to']['stack']}/{move['to']['resource']}",
                "type": move["resource_type"],
                "physical_id": move["physical_resource_id"],
            }
            for move in self.actions["moves"]
        ]
        if moves:
            show_rows(moves, ("from", "to", "type", "physical_id"), "table")
        for name, policies in self.actions.get("policies", {}).items():
            for sentence in policy_sentences({"policies": policies}):
                say(f"{name}: {sentence}")
        if not self.is_possible:
            return
        new = [stack["name"] for stack in self.actions["stacks"]]
        counts = f"{len(moves)} to move"
        if new:
            counts += f", {len(new)} {'stack' if len(new) == 1 else 'stacks'} to create ({', '.join(new)})"
        if not self.changes:
            say(f"Plan: {counts}. Nothing is written to the cloud.")
            return
        from stoker.cli.views.plans import show_plan

        say(f"Plan: {counts}, which writes nothing to the cloud. Then these updates begin:")
        for name, plan in self.changes.items():
            click.echo()
            show_plan(name, plan)

    def refuse(self) -> None:
        """Raise CommandFailed if it cannot be carried out."""
        if not self.is_possible:
            why = self.refactor["execution_status_reason"] or self.refactor["status_reason"]
            raise CommandFailed(why or f"The refactoring is {self.refactor['execution_status']}.")


def propose(
    service: StackClient,
    definitions: Mapping[str, Definition],
    moved: Sequence[Mapping[str, object]] = (),
    creates: bool = False,
    description: str = "",
    changes: bool = False,
) -> Proposal:
    """Have a refactoring examined. Raises CommandFailed, with the places of problems in the user's files."""
    stacks = {name: definition.body() for name, definition in definitions.items()}
    body: Answer = {"stacks": stacks, "moved": list(moved), "create_stacks": creates, "description": description}
    if changes:
        body["changes"] = True
    try:
        refactor = service.create_refactor(body)
    except Refused as error:
        if not error.diagnostics:
            raise
        raise _placed(definitions, error.diagnostics) from error
    return Proposal(refactor, service.refactor_actions(refactor["id"]))


def _placed(definitions: Mapping[str, Definition], diagnostics: Iterable[Diagnostic]) -> TemplateRefused:
    """Return the error with the problems of all definitions; their sources begin with the names of their stacks."""
    from stoker.cli.client.problem_places import placed

    located: list[Diagnostic] = []
    texts: dict[str, str | None] = {}
    for diagnostic in diagnostics:
        name, _, source = diagnostic.source.partition("/")
        definition = definitions.get(name)
        if definition is None:
            located.append(diagnostic)
            continue
        shown, text_of = placed(definition.sources, definition.parameters, [replace(diagnostic, source=source)])
        located += [_with_stack(item, name) for item in shown]
        texts |= {item.source: text_of(item.source) for item in shown}
    return TemplateRefused(located, texts.get)


def _with_stack(item: Diagnostic, name: str) -> Diagnostic:
    """Return a diagnostic, one about a missing value with the options that give it to a stack."""
    from stoker.cli.client.problem_places import MISSING

    if item.rule != MISSING:
        return item
    return replace(item, hint=f"give it with -P {name}.{item.path[-1]}=VALUE, or in an environment (-e {name}=FILE)")


def carry_out(service: StackClient, proposal: Proposal, form: str, report: Report) -> None:
    """Carry a refactoring out, say so, and follow the updates that begin with it.

    Raises CommandFailed unless all of them succeed.
    """
    from stoker.cli.commands.deployment import finish
    from stoker.cli.views.follow import follow

    changed = sorted(proposal.changes)
    markers = {name: stack.last_event() for name in changed if (stack := service.existing(name)) is not None}
    done = service.execute_refactor(proposal.refactor["id"])
    if form == "json":
        show_record(done, form)
    else:
        names = ", ".join(stack["name"] for stack in done["stacks"])
        say(f"{names}: {len(proposal.actions['moves'])} moved.")
    failed: list[CommandFailed] = []
    for name in changed:
        try:
            finish(follow(service.stack(name), markers.get(name), report=report), report=report)
        except CommandFailed as error:
            failed.append(error)
    if failed:
        raise failed[0]


def is_moved(service: StackClient, source: Mapping[str, str], target: Mapping[str, str]) -> bool:
    """Return whether the stack of the target has it, and the one of the source has it no more."""
    return _has(service, target) and not _has(service, source)


def _has(service: StackClient, place: Mapping[str, str]) -> bool:
    stack = service.existing(place["stack"])
    return stack is not None and any(resource["resource_name"] == place["resource"] for resource in stack.resources(0))


def location(text: str) -> dict[str, str]:
    """Return a resource that is written as STACK/RESOURCE. Raises click.BadParameter."""
    stack, separator, resource = text.partition("/")
    if not separator or not stack or not resource:
        raise click.BadParameter(f"{text!r} must be STACK/RESOURCE.")
    return {"stack": stack, "resource": resource}


def _moves(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[dict[str, object]]:
    pairs = pairs_of(values, "STACK/RESOURCE=STACK/RESOURCE")
    return [{"from": location(source), "to": location(target)} for source, target in pairs]


def _several(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, str]]:
    pairs = pairs_of(values, "STACK=FILE")
    for name, file in pairs:
        if not file:
            raise click.BadParameter(f"{name!r} must be STACK=FILE.")
    return pairs


def _templates(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = _several(context, option, values)
    if len(dict(pairs)) < len(pairs):
        raise click.BadParameter("A stack has one template.")
    return dict(pairs)


@click.command("plan")
@click.argument("templates", nargs=-1, required=True, metavar="STACK=FILE…", callback=_templates)
@click.option(
    "--move",
    "moved",
    multiple=True,
    metavar="FROM=TO",
    callback=_moves,
    help="A resource that gets another name, as STACK/RESOURCE=STACK/RESOURCE; repeatable.",
)
@click.option(
    "-e",
    "--environment",
    "environments",
    multiple=True,
    metavar="STACK=FILE",
    callback=_several,
    help="Environment of a stack; repeatable, later ones override.",
)
@click.option(
    "-P",
    "--parameter",
    "parameters",
    multiple=True,
    metavar="STACK.KEY=VALUE",
    callback=key_values,
    help="Value of a parameter of a stack; repeatable.",
)
@click.option("--create-stacks", is_flag=True, help="Create the stacks that do not exist.")
@click.option(
    "--with-changes",
    "changes",
    is_flag=True,
    help="Allow other changes, too: updates that begin with the moves make them.",
)
@click.option("--description", default="", help="What the refactoring is for.")
@progress_format
@with_service
def plan(
    service: StackClient,
    templates: dict[str, str],
    moved: list[dict[str, object]],
    environments: list[tuple[str, str]],
    parameters: dict[str, str],
    create_stacks: bool,
    changes: bool,
    description: str,
    form: str,
) -> None:
    """Show what new templates of several stacks move between them, and store it as a refactoring.

    Resources that leave one template and appear in another one are moved with their objects. Those that get another
    name need --move, or an entry `moved` in an environment. Only resources of the templates themselves are moved; one
    inside a nested stack is moved by a deployment with an entry `moved`. Parameters and environments that are not given
    stay as they are. A refactoring that would do anything but move resources is refused, with the reasons, unless
    --with-changes allows that: the updates that make the other changes begin when the resources are moved.

    \b
    Examples:
      stoker refactor plan a=a.yaml c=c.yaml --create-stacks
      stoker refactor plan a=a.yaml c=c.yaml --move a/subnet=c/front
      stoker refactor plan a=a.yaml c=c.yaml -e c=c-env.yaml -P c.size=10
      stoker refactor plan a=a.yaml c=c.yaml --with-changes
    """
    from stoker.cli.client.sources import collect

    for name, _ in environments:
        if name not in templates:
            raise click.UsageError(f"Give the template of the stack {name}, too ({name}=FILE).")
    definitions = {
        name: Definition(collect(file, [environment for stack, environment in environments if stack == name]))
        for name, file in templates.items()
    }
    for key, value in parameters.items():
        stack = max((name for name in templates if key.startswith(f"{name}.")), key=len, default=None)
        if stack is None:
            raise click.UsageError(f"-P {key}: the name of a parameter must begin with that of a stack (STACK.KEY).")
        definitions[stack].parameters[key.removeprefix(f"{stack}.")] = value
    proposal = propose(service, definitions, moved, create_stacks, description, changes)
    proposal.show(form)
    proposal.refuse()
    if form != "json":
        say(f"To carry it out:\n  stoker refactor execute {proposal.refactor['id']}")


@click.command("execute")
@click.argument("refactor_id", metavar="ID")
@yes_option
@progress_format
@with_service
def execute(service: StackClient, refactor_id: str, yes: bool, form: str) -> None:
    """Carry out the refactoring ID, after showing it: all stacks at once, and nothing in the cloud.

    If it has other changes (plan --with-changes), the updates that make them are followed until they end. It is refused
    if one of its stacks has changed since it was planned.

    \b
    Examples:
      stoker refactor execute 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
      stoker refactor execute 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e --yes -f json
    """
    from stoker.cli.commands.deployment import confirm
    from stoker.cli.views.reports import reported

    with reported(form) as report:
        proposal = Proposal(service.refactor(refactor_id), service.refactor_actions(refactor_id))
        if form != "json":
            proposal.show(form)
        proposal.refuse()
        confirm("Move these resources?", yes, report)
        carry_out(service, proposal, form, report)


@click.command("show")
@click.argument("refactor_id", metavar="ID")
@progress_format
@with_service
def show(service: StackClient, refactor_id: str, form: str) -> None:
    """Show the refactoring ID: what it moves, and whether it can be carried out.

    \b
    Examples:
      stoker refactor show 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
    """
    proposal = Proposal(service.refactor(refactor_id), service.refactor_actions(refactor_id))
    proposal.show(form)
    if form != "json":
        facts = proposal.refactor
        reason = facts["execution_status_reason"] or facts["status_reason"]
        say(f"{facts['execution_status']}{f': {cell(reason)}' if reason else ''}")


@listing("list", "id", "execution_status", "created_at", "description", more=("status", "status_reason"))
@with_service
def list_refactors(service: StackClient) -> Iterable[Answer]:
    """List the refactorings of the project, the latest first.

    \b
    Examples:
      stoker refactor list
    """
    return service.refactors()


refactor = Commands(
    "refactor",
    commands=[plan, execute, show, list_refactors],
    help="Move resources between stacks, by new templates of several stacks at once.",
)
