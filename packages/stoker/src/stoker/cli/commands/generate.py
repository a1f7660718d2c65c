"""`stoker generate`: write a template of the objects that a project has, and an environment that imports them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.completion import stack_names
from stoker.cli.commands.new_files import counted, free_files, write_files
from stoker.cli.framework import format_option, with_service
from stoker.cli.terminal.formats import show_rows
from stoker.cli.terminal.messages import say

TEMPLATE, ENVIRONMENT = "template.yaml", "environment.yaml"
"""The files that are written."""
GROUPS = "groups"
"""The directory, in that of the files, for the template with groups."""
_FORMATS = ("table", "json")


@click.command("generate")
@click.option("--project", "whole", is_flag=True, help="Generate from the objects of the project.")
@click.option("--types", "types", multiple=True, metavar="TYPE,…", help="Only objects of these types; repeatable.")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Only objects with the tag, or KEY=VALUE in their metadata."
)
@click.option("--name", "name", metavar="PATTERN", help="Only objects whose name fits, with * ? and […].")
@click.option(
    "-o", "--out", "out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help=f"Directory for {TEMPLATE} and {ENVIRONMENT}, which must not have them yet.",
)  # fmt: skip
@click.option(
    "--terraform", "stack", metavar="STACK", shell_complete=stack_names,
    help="Write a configuration of Terraform (main.tf) for the objects of this stack.",
)  # fmt: skip
@click.option("--skip-unsupported", is_flag=True, help="Leave out resources without an equivalent; with --terraform.")
@click.option("--flat", is_flag=True, help="Write no template with groups for what repeats.")
@click.option("--list-types", is_flag=True, help="List the types, and whether their objects can be generated.")
@format_option(_FORMATS)
@with_service
def generate(
    service: StackClient,
    whole: bool,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    name: str | None,
    out: Path | None,
    stack: str | None,
    skip_unsupported: bool,
    flat: bool,
    list_types: bool,
    form: str,
) -> None:
    """Write a template of the objects that the project has, and an environment that imports them.

    The services are asked for their lists; nothing is changed. A stack of the template and the environment imports the
    objects without a change of any. Objects that a stack owns, and those that a service makes itself, are left out,
    with the reason. What is inside a selected object comes with it. Files that exist are not overwritten.

    Where three or more objects have names that differ in a number only, such as web-1, web-2 and web-3, a second
    template in DIR/groups has them as a group, together with what belongs to each. Update the stack to it after the
    import: its environment moves the resources, without a change of any object. With --flat, it is not written.

    With --terraform, the objects of a stack become a configuration with a block `import` for each.

    Exit status: 0, or 1 if a service did not list its objects; the rest is written. With --terraform, 1 if a resource
    has no equivalent; then nothing is written, unless it is skipped.

    \b
    Examples:
      stoker generate --project -o shop
      stoker generate --project --name 'web-*' -o web
      stoker generate --project --types OS::Neutron::Net -o nets
      stoker generate --terraform web -o web-tf
      stoker generate --list-types
    """
    if list_types:
        show_rows(list(_types(service)), ("resource_type", "generated"), form)
        return
    if stack is not None:
        if whole or types or tags or name or flat or out is None:
            raise click.UsageError("--terraform goes with -o DIR, --skip-unsupported and -f only.")
        from stoker.cli.commands.terraform import write_configuration

        write_configuration(service, stack, out, skip_unsupported, form)
        return
    if not whole or out is None or skip_unsupported:
        raise click.UsageError(
            "Give what to generate from (--project, or --terraform STACK), and the directory to write (-o DIR)."
        )
    type_names = [type_name for text in types for type_name in text.split(",") if type_name]
    refuse_existing(out)
    query = {"type": type_names, "tag": list(tags), "groups": "false" if flat else "true"}
    answer = service.generated({**query, **({"name": name} if name else {})})
    if answer["template"]["resources"]:
        write_generated(out, answer)
    if form == "table":
        report_generated(answer, out)
    else:
        files = [out / name for name in _names(answer)] if answer["template"]["resources"] else []
        rest = {key: value for key, value in answer.items() if key not in ("template", "environment", "grouped")}
        click.echo(json.dumps({"files": [str(file) for file in files], **rest}, indent=2))
    if answer["unread"]:
        sys.exit(1)


def _types(service: StackClient) -> Iterator[dict[str, object]]:
    generated = service.generated_types()
    for type_name in service.resource_types():
        yield {"resource_type": type_name, "generated": type_name in generated}


def _names(answer: Answer) -> tuple[str, ...]:
    """Return the names of the files of an answer; earlier releases of the service have no groups."""
    grouped = answer.get("grouped")
    inner = (TEMPLATE, ENVIRONMENT, *grouped["files"]) if grouped else ()
    return TEMPLATE, ENVIRONMENT, *(f"{GROUPS}/{name}" for name in inner)


def refuse_existing(out: Path) -> None:
    """Raise CommandFailed if one of the files exists in a directory: nothing is overwritten."""
    free_files(out, (TEMPLATE, ENVIRONMENT))


def write_generated(out: Path, answer: Answer) -> None:
    """Write the files to a directory. Raises CommandFailed, also if one of them has come to be meanwhile."""
    from stoker.authoring.convert.templates import to_yaml

    texts = _texts(answer, "imports")
    if grouped := answer.get("grouped"):
        nested = {name: to_yaml(template) for name, template in grouped["files"].items()}
        texts |= {f"{GROUPS}/{name}": text for name, text in {**_texts(grouped, "moved"), **nested}.items()}
    write_files(free_files(out, texts), texts)


def _texts(answer: Answer, section: str) -> dict[str, str]:
    from stoker.authoring.added_entries import with_entries
    from stoker.authoring.convert.templates import to_yaml
    from stoker.cli.terminal.formats import yaml_text

    environment = dict(answer["environment"])
    entries = environment.pop(section)
    return {
        TEMPLATE: to_yaml(answer["template"]),
        ENVIRONMENT: with_entries(yaml_text(environment) if environment else "", section, entries),
    }


def report_generated(answer: Answer, out: Path) -> None:
    """Say what was written to a directory, and what was not, with the reasons."""
    resources, environment = answer["resources"], answer["environment"]
    if resources:
        parameters = len(environment.get("parameters", {}))
        say(f"Written: {out / TEMPLATE}, with {counted(len(resources), 'resource')}.")
        counts = [counted(parameters, "parameter")] if parameters else []
        say(f"Written: {out / ENVIRONMENT}, with {' and '.join([*counts, counted(len(resources), 'import')])}.")
        for name, number in Counter(resource["resource_type"] for resource in resources).items():
            say(f"  {number} {name}")
    else:
        say("Nothing was written: no object was found that no stack owns.")
    reasons = Counter((left_out["resource_type"], left_out["reason"]) for left_out in answer["left_out"])
    if reasons:
        say("Left out:")
    for (name, reason), number in reasons.items():
        say(f"  {number} {name}: {reason}")
    for left_out in answer["left_out_properties"]:
        say(f"Left out: {left_out['property']} of {left_out['resource_name']}: {left_out['reason']}.")
    for unread in answer["unread"]:
        types = ", ".join(unread["resource_types"])
        say(f"Unknown, as {unread['service']} did not list them: {types}: {unread['reason']}", err=True)
    if without := answer["parameters_without_value"]:
        say(f"Give values of these parameters, which no service shows: {', '.join(without)}.")
    if resources:
        say(f"To import the objects: stoker deploy NAME -t {out / TEMPLATE} -e {out / ENVIRONMENT}")
    if resources and (grouped := answer.get("grouped")):
        inner = out / GROUPS
        number = len(grouped["environment"]["moved"])
        say(f"Written: {inner / TEMPLATE}, which has {counted(number, 'resource')} in groups and nested templates.")
        say(f"To have it so afterwards: stoker deploy NAME -t {inner / TEMPLATE} -e {inner / ENVIRONMENT}")
