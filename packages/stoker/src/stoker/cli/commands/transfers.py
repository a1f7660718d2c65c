"""`stoker import`, `move` and `forget`: write the entries of an environment that say which resource an object belongs
to, and deploy the stack with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.deploy import Command, definition_options
from stoker.cli.commands.refresh_options import extent
from stoker.cli.framework import key_values, progress_format, with_service, yes_option

_REMOTE = ("http", "https")


def _transfer(
    *arguments: Callable[[Command], Command], command: type[click.Command] = click.Command, needs_name: bool = True
) -> Callable[[Callable[..., None]], click.Command]:
    """Declare a command that deploys a stack; `arguments` follow the name of the stack, if it `needs_name`."""

    def decorate(function: Callable[..., None]) -> click.Command:
        decorated: Any = progress_format(with_service(function))
        for decorator in (yes_option, *reversed(arguments), definition_options(required=needs_name, returns=False)):
            decorated = decorator(decorated)
        created: click.Command = click.command(cls=command)(decorated)
        return created

    return decorate


class _Import(click.Command):
    """`stoker import`, which needs neither a stack nor a service to read the state of another tool."""

    def invoke(self, context: click.Context) -> Any:
        options = {name: context.params.pop(name) for name in ("tfstate", "out", "flat", "skip_unsupported")}
        from_command_line = {
            name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        }
        if options["tfstate"] is None:
            if options["out"] is not None or options["flat"] or options["skip_unsupported"]:
                raise click.UsageError("-o, --flat and --skip-unsupported belong to --tfstate.", context)
            if not context.params["name"] or not context.params["objects"]:
                raise click.UsageError(
                    "Give the stack and its objects (NAME RESOURCE=ID…), or --tfstate FILE.", context
                )
            return super().invoke(context)
        if from_command_line - {"form"}:
            raise click.UsageError("--tfstate goes with -o, --flat, --skip-unsupported and -f only.", context)
        if options["out"] is None:
            raise click.UsageError("Give the directory to write (-o DIR).", context)
        from stoker.cli.commands.terraform import import_state

        return import_state(
            options["tfstate"],
            options["out"],
            flat=options["flat"],
            skip_unsupported=options["skip_unsupported"],
            form=context.params["form"],
        )


_STATE_OPTIONS = (
    click.option(
        "--tfstate", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="Write a template and an environment of the objects in this state of Terraform or OpenTofu.",
    ),
    click.option(
        "-o", "--out", "out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
        help="Directory for template.yaml and environment.yaml, which must not have them yet; with --tfstate.",
    ),
    click.option("--flat", is_flag=True, help="Write no nested templates for modules."),
    click.option(
        "--skip-unsupported", is_flag=True, help="Leave out objects of the state without an equivalent."
    ),
)  # fmt: skip


@_transfer(
    *_STATE_OPTIONS,
    click.argument("objects", nargs=-1, metavar="[RESOURCE=ID…]", callback=key_values),
    command=_Import,
    needs_name=False,
)
def import_objects(service: StackClient, name: str, objects: dict[str, str], **definition: Any) -> None:
    """Import existing objects as resources of the stack NAME.

    The template has the resources as they should be. The entries are written into the last environment, a file that is
    made if it does not exist; they can stay there. If the plan is refused or not confirmed, the file stays as it was.

    The objects are read, and what differs from the template is shown and changed. They are never replaced.

    With --tfstate, the objects of a state become a template and an environment that imports them; files that exist are
    not overwritten, and no service is asked. What has no equivalent is listed, and then nothing is written and the exit
    status is 1, unless it is skipped. For modules, DIR/modules has nested templates, and an environment that moves the
    resources into them: update the stack to these after the import. With --flat, they are not written.

    \b
    Examples:
      stoker import shop net=UUID -t shop.yaml -e env.yaml
      stoker import --tfstate terraform.tfstate -o shop
      stoker import shop net=UUID data=UUID -t shop.yaml -e env.yaml
      stoker import shop net=UUID -t shop.yaml -e env.yaml --yes -f json
    """
    entries = [{"to": resource, "id": identifier} for resource, identifier in objects.items()]
    _deploy_with(service, name, "imports", entries, **definition)


class _Move(click.Command):
    """`stoker move`, which takes a resource of one stack, or two resources of two stacks."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        context = super().make_context(info_name, args, parent, **extra)
        if context.resilient_parsing:
            return context
        params = context.params
        if "/" in params["name"] and params["new"] is None:
            if params["source_template"] is not None:
                _refuse_unused(context)
        elif params["new"] is None:
            raise click.UsageError("Give NAME FROM TO, or STACK/RESOURCE STACK/RESOURCE.", context)
        elif params["source_template"] is not None:
            raise click.UsageError("--from-template is for moves between stacks.", context)
        return context


_BETWEEN = frozenset(
    {"name", "former", "template", "source_template", "environments", "parameters", "yes", "form", "directory"}
    | {"os_cloud"}
)
"""The parameters of a move between stacks with new templates of both."""


def _refuse_unused(context: click.Context) -> None:
    for option in context.command.params:
        name = option.name or ""
        if name not in _BETWEEN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} does not apply with --from-template.", context)


@_transfer(
    click.option(
        "--from-template", "source_template", metavar="FILE|URL",
        help="New template of the stack that the resource leaves, for moves between stacks; both get theirs at once.",
    ),
    click.argument("former", metavar="FROM"),
    click.argument("new", metavar="TO", required=False),
    command=_Move,
)  # fmt: skip
def move(
    service: StackClient, name: str, former: str, new: str | None, source_template: str | None, **definition: Any
) -> None:
    """Keep the object of a resource that has another name in the template, or gets into another stack.

    The resource FROM of the stack NAME is called TO in the template. Both can be paths of resources in nested stacks
    and of members of groups, as plans print them.

    With two arguments STACK/RESOURCE, the resource gets into another stack, which is created if it does not exist: -t
    is the template of that stack, which is deployed. The resource also leaves the template of the other stack. With
    --from-template, that stack gets a new template in the same moment; nothing else may change then.

    The entry is written into the last environment, a file that is made if it does not exist; it can stay there. If the
    plan is refused or not confirmed, the file stays as it was.

    \b
    Examples:
      stoker move shop data orders -t shop.yaml -e env.yaml
      stoker move shop group.0 group.blue -t shop.yaml -e env.yaml
      stoker move shop data orders -t shop.yaml -e env.yaml --yes -f json
      stoker move a/net c/net -t c.yaml -e c-env.yaml
      stoker move a/net c/net --from-template a.yaml -t c.yaml -e c-env.yaml
    """
    if new is None and source_template is not None:
        _move_between(service, name, former, source_template=source_template, **definition)
    elif new is None:
        from stoker.cli.commands.refactor import location

        entry = {"from": location(name), "to": location(former)}
        _deploy_with(service, entry["to"]["stack"], "moved", [entry], **definition)
    else:
        _deploy_with(service, name, "moved", [{"from": former, "to": new}], **definition)


def _move_between(
    service: StackClient,
    source: str,
    target: str,
    *,
    source_template: str,
    template: str | None,
    environments: tuple[str, ...],
    parameters: dict[str, str],
    yes: bool,
    form: str,
    **_unused: object,
) -> None:
    from stoker.cli.client.sources import collect
    from stoker.cli.commands import refactor
    from stoker.cli.commands.deployment import confirm
    from stoker.cli.views.reports import reported

    before, after = refactor.location(source), refactor.location(target)
    url, file = _last(template, environments)
    entry = {"from": before, "to": after}
    with reported(form) as report:
        content = _edited(file, "moved", [entry])
        if refactor.is_moved(service, before, after):
            _write(file, content)
            report.note(f"{source} is {target} already.")
            return
        definitions = {
            before["stack"]: refactor.Definition(collect(source_template)),
            after["stack"]: refactor.Definition(collect(str(template), environments, {url: content}), parameters),
        }
        proposal = refactor.propose(service, definitions, creates=service.existing(after["stack"]) is None)
        proposal.show(form)
        proposal.refuse()
        confirm("Move it?" if len(proposal.actions["moves"]) == 1 else "Move them?", yes, report)
        _write(file, content)
        refactor.carry_out(service, proposal, form, report)


@_transfer(click.argument("resources", nargs=-1, required=True, metavar="RESOURCE…"))
def forget(service: StackClient, name: str, resources: tuple[str, ...], **definition: Any) -> None:
    """Remove resources from the stack NAME, and keep their objects.

    The template no longer has the resources. The entries are written into the last environment, a file that is made if
    it does not exist; they can stay there. If the plan is refused or not confirmed, the file stays as it was.

    \b
    Examples:
      stoker forget shop orders -t shop.yaml -e env.yaml
      stoker forget shop orders net -t shop.yaml -e env.yaml --yes -f json
    """
    entries = [{"from": resource, "destroy": False} for resource in dict.fromkeys(resources)]
    _deploy_with(service, name, "removed", entries, **definition)


def _deploy_with(
    service: StackClient,
    name: str,
    section: str,
    entries: Sequence[Mapping[str, object]],
    *,
    template: str | None,
    environments: tuple[str, ...],
    refresh: str | None,
    skip_refresh: bool,
    yes: bool,
    form: str,
    **options: Any,
) -> None:
    """Deploy a stack with further entries in a section of its last environment, which is written before the start.

    `options` are the other ones that define a stack, as `Deployment.of` has them.
    """
    from stoker.cli.client.sources import collect
    from stoker.cli.commands.deployment import Deployment, carry_out
    from stoker.cli.terminal.places import short
    from stoker.cli.views.reports import reported

    url, file = _last(template, environments)
    with reported(form) as report:
        content = _edited(file, section, entries)
        sources = collect(str(template), environments, {url: content})
        planned_deployment = Deployment.of(service, name, sources, refresh=extent(refresh, skip_refresh), **options)

        def write() -> None:
            if _write(file, content):
                report.note(f"Written into {short(url)}: {section}.")

        carry_out(planned_deployment, yes, report, write)


def _last(template: str | None, environments: Sequence[str]) -> tuple[str, Path]:
    """Return the URL and the path of the environment that gets the entries. Raises UsageError."""
    from stoker.cli.terminal.places import path_of, url_of

    if template is None:
        raise click.UsageError("Give the template (-t FILE).")
    if not environments or urlsplit(environments[-1]).scheme in _REMOTE:
        raise click.UsageError(
            "Give the environment that gets the entries as the last one (-e FILE): a file, which need not exist."
        )
    url = url_of(environments[-1], f"{Path.cwd().as_uri()}/")
    return url, Path(path_of(url))


def _write(file: Path, content: str) -> bool:
    """Write a file, and return whether that has changed it."""
    if file.exists() and _read(file) == content:
        return False
    file.write_bytes(content.encode())
    return True


def _edited(file: Path, section: str, entries: Sequence[Mapping[str, object]]) -> str:
    """Return the content of a file with the entries. Raises CommandFailed."""
    from stoker.authoring.added_entries import NotAdded, with_entries, written
    from stoker.cli.terminal.errors import CommandFailed

    try:
        return with_entries(_read(file), section, entries)
    except NotAdded as error:
        lines = "\n".join((f"{section}:", *(f"  - {written(entry)}" for entry in entries)))
        raise CommandFailed(
            f"{file} cannot be changed: {error}. Add these lines to an environment:\n{lines}"
        ) from error


def _read(file: Path) -> str:
    """Return the content of a file with its line ends; nothing for one that does not exist. Raises CommandFailed."""
    from stoker.cli.terminal.errors import CommandFailed

    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{file} cannot be read: {error}") from error
