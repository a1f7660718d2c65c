"""`stoker import --tfstate` and `stoker generate --terraform`: from Terraform's states, and back."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stoker.cli.commands.new_files import counted, free_files, write_files
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say

if TYPE_CHECKING:
    from stoker.authoring.terraform.configuration import Configuration
    from stoker.authoring.terraform.importing import Imported, InModules
    from stoker.authoring.terraform.outputs import Outputs
    from stoker.authoring.terraform.parts import StackObject
    from stoker.cli.client.stack_client import Stack, StackClient

TEMPLATE, ENVIRONMENT = "template.yaml", "environment.yaml"
_SECTIONS = ("imports", "moved")
"""The sections of environments that have entries, one in a line."""
MODULES = "modules"
"""The directory, in that of the files, for the templates in which modules are nested ones."""


def import_state(file: Path, out: Path, *, flat: bool, skip_unsupported: bool, form: str) -> None:
    """Write a template and an environment of a state's objects, those for its modules unless it is to stay `flat`,
    and say which objects have none.

    Exits with status 1 if objects have no equivalent, unless these are skipped. Raises CommandFailed.
    """
    from stoker.authoring.terraform.importing import from_state, in_modules
    from stoker.authoring.terraform.state import LARGEST, InvalidState, read_state
    from stoker.plugins.registry import Registry

    free_files(out, (TEMPLATE, ENVIRONMENT))
    try:
        with file.open("rb") as opened:
            state = read_state(opened.read(LARGEST + 1))
    except OSError as error:
        raise CommandFailed(f"{file}: {error.strerror}") from error
    except InvalidState as error:
        raise CommandFailed(f"{file} cannot be imported: {error}.") from error
    imported = from_state(state, Registry.from_entry_points().types)
    refused = bool(imported.unsupported) and not skip_unsupported
    is_written = bool(imported.resources) and not refused
    named = (Path(TEMPLATE).stem, Path(ENVIRONMENT).stem)
    nested = in_modules(imported, named) if is_written and not flat else None
    texts = _texts(imported, nested) if is_written else {}
    files = free_files(out, texts)
    write_files(files, texts)
    if form == "json":
        _show_json(imported, nested, files)
    else:
        _report(imported, nested, out, is_written)
    if refused:
        sys.exit(1)


def _texts(imported: Imported, nested: InModules | None) -> dict[str, str]:
    """Return the contents of the files by their paths in the directory."""
    from stoker.authoring.convert.templates import to_yaml

    texts = _pair(imported.template, imported.environment)
    if nested is not None:
        inner = _pair(nested.template, nested.environment)
        inner |= {name: to_yaml(template) for name, template in nested.files.items()}
        texts |= {f"{MODULES}/{name}": text for name, text in inner.items()}
    return texts


def _pair(template: Mapping[str, object], environment: Mapping[str, Any]) -> dict[str, str]:
    from stoker.authoring.added_entries import with_entries
    from stoker.authoring.convert.templates import to_yaml
    from stoker.cli.terminal.formats import yaml_text

    entries = {key: environment[key] for key in _SECTIONS if key in environment}
    rest = {key: value for key, value in environment.items() if key not in entries}
    text = yaml_text(rest) if rest else ""
    for section, added in entries.items():
        text = with_entries(text, section, added)
    return {TEMPLATE: to_yaml(template), ENVIRONMENT: text}


def _show_json(imported: Imported, nested: InModules | None, files: Mapping[str, Path]) -> None:
    shown: dict[str, object] = {
        "files": [str(file) for file in files.values()],
        "resources": imported.resources,
        "parts": [{"address": address, "resource_name": name} for address, name in imported.parts.items()],
        "unsupported": [{"address": address, "reason": reason} for address, reason in imported.unsupported.items()],
        "left_out_attributes": [{"address": key, "attributes": names} for key, names in imported.left_out.items()],
        "modules_without_template": nested.kept if nested is not None else [],
        "parameters_without_value": imported.without_value,
        "outputs": {
            "written": list(imported.outputs.written),
            "fixed": imported.outputs.fixed,
            "left_out": [{"output": name, "reason": reason} for name, reason in imported.outputs.left_out.items()],
        },
    }
    click.echo(json.dumps(shown, indent=2))


def _report(imported: Imported, nested: InModules | None, out: Path, is_written: bool) -> None:
    if is_written:
        parameters = len(imported.environment.get("parameters", {}))
        numbers = [counted(parameters, "parameter")] if parameters else []
        imports = " and ".join([*numbers, counted(len(imported.resources), "import")])
        say(f"Written: {out / TEMPLATE}, with {counted(len(imported.resources), 'resource')}.")
        say(f"Written: {out / ENVIRONMENT}, with {imports}.")
        for name, number in sorted(Counter(resource["resource_type"] for resource in imported.resources).items()):
            say(f"  {number} {name}")
    for address, name in imported.parts.items():
        say(f"Part of {name}: {address}")
    _report_left_out(imported.unsupported, imported.left_out, "template")
    if is_written:
        _report_outputs(imported.outputs)
        if imported.without_value:
            say(f"Give values of these hidden parameters, which no file has: {', '.join(imported.without_value)}.")
        value_options = "".join(f" -P {name}=…" for name in imported.without_value)
        say(f"To import the objects: stoker deploy NAME -t {out / TEMPLATE} -e {out / ENVIRONMENT}{value_options}")
        if nested is not None:
            _report_modules(nested, out / MODULES, value_options)
    elif imported.resources:
        say(
            "Nothing was written: remove these objects from the state, or leave them out with --skip-unsupported.",
            err=True,
        )
    else:
        say("Nothing was written: the state has no objects that a template can have.")


def _report_outputs(outputs: Outputs) -> None:
    if outputs.fixed:
        say(f"Outputs with fixed values, which refer to no resource: {', '.join(outputs.fixed)}.")
    for name, reason in outputs.left_out.items():
        say(f"Not in the template: the output {name}: {reason}.")


def _report_modules(nested: InModules, inner: Path, value_options: str) -> None:
    for address in nested.kept:
        say(f"Not a nested template: {address}, since it needs something outside of it that needs a part of it.")
    number = len(nested.environment["moved"])
    say(f"Written: {inner / TEMPLATE}, which has {counted(number, 'resource')} in nested templates for modules.")
    say(f"To have it so afterwards: stoker deploy NAME -t {inner / TEMPLATE} -e {inner / ENVIRONMENT}{value_options}")


CONFIGURATION = "main.tf"


def write_configuration(service: StackClient, name: str, out: Path, skip_unsupported: bool, form: str) -> None:
    """Write a configuration of Terraform for the objects of a stack, with those of its nested stacks.

    Exits with status 1 if objects have no equivalent, unless these are skipped. Raises CommandFailed.
    """
    from stoker.authoring.terraform.configuration import to_configuration
    from stoker.plugins.registry import Registry

    files = free_files(out, (CONFIGURATION,))
    configuration = to_configuration(_objects(service, service.stack(name), ""), Registry.from_entry_points().types)
    refused = bool(configuration.unsupported) and not skip_unsupported
    is_written = bool(configuration.resources) and not refused
    if is_written:
        write_files(files, {CONFIGURATION: configuration.text})
    if form == "json":
        shown = {
            "files": [str(file) for file in files.values() if is_written],
            "resources": [{"resource": path, "address": address} for path, address in configuration.resources.items()],
            "variables": configuration.variables,
            "unsupported": [{"resource": path, "reason": reason} for path, reason in configuration.unsupported.items()],
            "left_out_properties": [
                {"resource": path, "properties": properties} for path, properties in configuration.left_out.items()
            ],
        }
        click.echo(json.dumps(shown, indent=2))
    else:
        _report_configuration(configuration, files[CONFIGURATION], is_written)
    if refused:
        sys.exit(1)


def _objects(service: StackClient, stack: Stack, outer: str) -> Iterator[StackObject]:
    """Yield the objects of a stack and of its nested stacks."""
    from stoker.authoring.terraform.parts import StackObject

    for row in stack.resources(0):
        path = f"{outer}{row['resource_name']}"
        nested = next((link["href"] for link in row["links"] if link["rel"] == "nested"), None)
        if nested is not None:
            yield from _objects(service, service.stack(nested.rpartition("/")[2]), f"{path}.")
        elif row["physical_resource_id"]:
            name = row["resource_name"]
            properties, shown = stack.properties(name), stack.live_object(name)
            yield StackObject(path, row["resource_type"], row["physical_resource_id"], properties, shown)


def _report_left_out(unsupported: Mapping[str, str], properties: Mapping[str, Sequence[str]], document: str) -> None:
    """Say what is not in the document that was made: objects with the reasons, and properties of objects."""
    if unsupported:
        say("Without an equivalent:", err=True)
    for place, reason in unsupported.items():
        say(f"  {place}: {reason}", err=True)
    for place, names in properties.items():
        say(f"Not in the {document}: {', '.join(names)} of {place}; the object keeps them.")


def _report_configuration(configuration: Configuration, file: Path, is_written: bool) -> None:
    if is_written:
        say(f"Written: {file}, with {counted(len(configuration.resources), 'resource')} and as many imports.")
    _report_left_out(configuration.unsupported, configuration.left_out, "configuration")
    if is_written:
        if configuration.variables:
            say(f"Give values of these variables, which Stoker does not show: {', '.join(configuration.variables)}.")
        say(f"To see what Terraform would do: terraform -chdir={file.parent} init, and then plan")
    elif configuration.resources:
        say("Nothing was written: leave these resources out with --skip-unsupported.", err=True)
    else:
        say("Nothing was written: the stack has no objects that a configuration can have.")
