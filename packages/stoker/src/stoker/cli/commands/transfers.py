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

from stoker.cli.client.service import Service
from stoker.cli.commands.deploy import Command, definition_options, extent
from stoker.cli.framework import key_values, progress_format, with_service, yes_option

_REMOTE = ("http", "https")


def _transfer(
    *arguments: Callable[[Command], Command], command: type[click.Command] = click.Command
) -> Callable[[Callable[..., None]], click.Command]:
    """Declare a command that deploys a stack; `arguments` follow the name of the stack, which commands of other
    classes than click's may do without.
    """
    needs_name = command is click.Command

    def decorate(function: Callable[..., None]) -> click.Command:
        decorated: Any = progress_format(with_service(function))
        for decorator in (yes_option, *reversed(arguments), definition_options(required=needs_name, returns=False)):
            decorated = decorator(decorated)
        made: click.Command = click.command(cls=command)(decorated)
        return made

    return decorate


class _Import(click.Command):
    """`stoker import`, which needs neither a stack nor a service to read the state of another tool."""

    def invoke(self, context: click.Context) -> Any:
        options = {name: context.params.pop(name) for name in ("tfstate", "out", "skip_unsupported")}
        given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
        if options["tfstate"] is None:
            if options["out"] is not None or options["skip_unsupported"]:
                raise click.UsageError("-o and --skip-unsupported belong to --tfstate.", context)
            if not context.params["name"] or not context.params["objects"]:
                raise click.UsageError(
                    "Give the stack and its objects (NAME RESOURCE=ID…), or --tfstate FILE.", context
                )
            return super().invoke(context)
        if given - {"form"}:
            raise click.UsageError("--tfstate goes with -o, --skip-unsupported and -f only.", context)
        if options["out"] is None:
            raise click.UsageError("Give the directory to write (-o DIR).", context)
        from stoker.cli.commands.terraform import import_state

        return import_state(options["tfstate"], options["out"], options["skip_unsupported"], context.params["form"])


_STATE_OPTIONS = (
    click.option(
        "--tfstate", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="Write a template and an environment of the objects in this state of Terraform or OpenTofu.",
    ),
    click.option(
        "-o", "--out", "out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
        help="Directory for template.yaml and environment.yaml, which must not have them yet; with --tfstate.",
    ),
    click.option(
        "--skip-unsupported", is_flag=True, help="Leave out objects of the state without an equivalent."
    ),
)  # fmt: skip


@_transfer(
    *_STATE_OPTIONS,
    click.argument("objects", nargs=-1, metavar="[RESOURCE=ID…]", callback=key_values),
    command=_Import,
)
def import_objects(service: Service, name: str, objects: dict[str, str], **definition: Any) -> None:
    """Import existing objects as resources of the stack NAME.

    The template has the resources as they are wanted. The entries are written into the last environment, a file that is
    made if it does not exist; they can stay there. If the plan is refused or not confirmed, the file stays as it was.

    The objects are read, and what differs from the template is shown and changed. They are never replaced.

    With --tfstate, the objects of a state become a template and an environment that imports them; files that exist are
    not overwritten, and no service is asked. What has no equivalent is listed, and then nothing is written and the exit
    status is 1, unless it is skipped.

    \b
    Examples:
      stoker import shop net=UUID -t shop.yaml -e env.yaml
      stoker import --tfstate terraform.tfstate -o shop
      stoker import shop net=UUID data=UUID -t shop.yaml -e env.yaml
      stoker import shop net=UUID -t shop.yaml -e env.yaml --yes -f json
    """
    entries = [{"to": resource, "id": identifier} for resource, identifier in objects.items()]
    _deploy_with(service, name, "imports", entries, **definition)


@_transfer(click.argument("former", metavar="FROM"), click.argument("new", metavar="TO"))
def move(service: Service, name: str, former: str, new: str, **definition: Any) -> None:
    """Keep the object of the resource FROM of the stack NAME, which is called TO in the template.

    Both can be paths of resources in nested stacks and of members of groups, as plans print them.

    The entry is written into the last environment, a file that is made if it does not exist; it can stay there. If the
    plan is refused or not confirmed, the file stays as it was.

    \b
    Examples:
      stoker move shop data orders -t shop.yaml -e env.yaml
      stoker move shop group.0 group.blue -t shop.yaml -e env.yaml
      stoker move shop data orders -t shop.yaml -e env.yaml --yes -f json
    """
    _deploy_with(service, name, "moved", [{"from": former, "to": new}], **definition)


@_transfer(click.argument("resources", nargs=-1, required=True, metavar="RESOURCE…"))
def forget(service: Service, name: str, resources: tuple[str, ...], **definition: Any) -> None:
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
    service: Service,
    name: str,
    section: str,
    entries: Sequence[Mapping[str, Any]],
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
    if template is None:
        raise click.UsageError("Give the template (-t FILE).")
    if not environments or urlsplit(environments[-1]).scheme in _REMOTE:
        raise click.UsageError(
            "Give the environment that gets the entries as the last one (-e FILE): a file, which need not exist."
        )
    from stoker.cli.client.sources import collect
    from stoker.cli.commands.deployment import Deployment, carry_out
    from stoker.cli.terminal.places import path_of, short, url_of
    from stoker.cli.views.reports import reported

    url = url_of(environments[-1], f"{Path.cwd().as_uri()}/")
    file = Path(path_of(url))
    with reported(form) as report:
        content = _edited(file, section, entries)
        sources = collect(template, environments, {url: content})
        wanted = Deployment.of(service, name, sources, refresh=extent(refresh, skip_refresh), **options)

        def write() -> None:
            if not file.exists() or _read(file) != content:
                file.write_bytes(content.encode())
                report.note(f"Written into {short(url)}: {section}.")

        carry_out(wanted, yes, report, write)


def _edited(file: Path, section: str, entries: Sequence[Mapping[str, Any]]) -> str:
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
