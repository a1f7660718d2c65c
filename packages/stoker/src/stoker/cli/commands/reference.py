"""`stoker types` and `stoker functions`: what templates can use, from the declarations and without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from stoker.base.similar import closest
from stoker.cli.framework import format_option
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import ROW_FORMATS, cell, console, show_record, show_rows

if TYPE_CHECKING:
    from rich.text import Text

_FORMAT = format_option(ROW_FORMATS)
_STEP = 2
_SUPPORTED = "SUPPORTED"
_EMPTY: tuple[object, ...] = (None, "", [], {})


def _type_names(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from stoker.authoring.reference import matching_types
    from stoker.plugins.registry import Registry

    type_names = matching_types(Registry.on_demand(), incomplete)
    return [name for name in type_names if name.lower().startswith(incomplete.lower())]


@click.command("types")
@click.argument("name", required=False, default="", metavar="[TYPE|PART]", shell_complete=_type_names)
@click.option("--example", is_flag=True, help="Print a template with a resource of TYPE and what it needs.")
@_FORMAT
def types(name: str, example: bool, form: str) -> None:
    """List the resource types, or those with PART in their names; or show the properties and attributes of TYPE.

    A property is shown with its type, what it accepts, and what a change of its value does to the resource: an update
    of the object, or its replacement.

    \b
    Examples:
      stoker types
      stoker types volume
      stoker types OS::Neutron::Port
      stoker types OS::Neutron::Port -f json
      stoker types OS::Neutron::Port --example > port.yaml
    """
    from stoker.authoring.reference import exact_type, matching_types, type_details, type_example, type_summaries
    from stoker.plugins.registry import Registry
    from stoker.template.type_hints import intended_type, suggested_type

    registry = Registry.on_demand()
    exact = exact_type(registry, name)
    if exact is not None and example:
        click.echo(type_example(exact, registry.types[exact]), nl=False)
        return
    if exact is not None:
        details = type_details(exact, registry.types[exact])
        if form == "table":
            _print(_type_page(details))
        else:
            show_record(details, form)
        return
    matching, known = matching_types(registry, name), matching_types(registry, "")
    if not matching or example:
        hint = suggested_type(name, known)
        whole = hint or example
        missing = f"There is no resource type {name}" if whole else f"No resource type has {name} in its name"
        raise CommandFailed(f"{missing}; {hint or '`stoker types` lists all.'}")
    show_rows(list(type_summaries(registry, matching)), ("type", "service", "description"), form, spare=("service",))
    meant = intended_type(name, known) if "::" in name else None
    if meant is not None:
        click.echo(f"There is no type {name}; did you mean {meant}?", err=True)


def _type_page(details: Mapping[str, Any]) -> Iterator[tuple[int, Text]]:
    """Yield the lines about a type, each with its indentation."""
    from rich.text import Text

    yield 0, Text(details["type"], "bold")
    yield 0, Text(details["description"])
    facts = [f"Service: {details['service']}."] if details["service"] else []
    facts += ["Only for administrators."] if details["for_administrators"] else []
    yield 0, Text(" ".join([*facts, *_support(details)]), "dim")
    for title, part in (("Properties", "properties"), ("Update policy", "update_policy")):
        if details[part]:
            yield 0, Text("")
            yield 0, Text(title, "bold")
            yield from _properties(details[part], _STEP)
    if details["any_properties"]:
        yield 0, Text("Accepts any properties.")
    if details["attributes"]:
        yield 0, Text("")
        yield 0, Text("Attributes", "bold")
    for name, attribute in details["attributes"].items():
        yield _STEP, Text.assemble((name, "cyan"), f"  {attribute['type']}")
        yield 3 * _STEP, Text(" ".join([attribute["description"], *_support(attribute)]))


def _properties(properties: Mapping[str, Any], indent: int) -> Iterator[tuple[int, Text]]:
    from rich.text import Text

    for name, prop in properties.items():
        facts = [prop["type"], *(["required"] if prop["required"] else []), f"change: {prop['change']}"]
        yield indent, Text.assemble((name, "cyan"), f"  {', '.join(facts)}")
        rules = [f"{rule[:1].upper()}{rule[1:]}." for rule in prop["constraints"]]
        default = [f"Default: {cell(prop['default'])}."] if prop["default"] not in _EMPTY else []
        text = " ".join(part for part in (prop["description"], *rules, *default, *_support(prop)) if part)
        if text:
            yield indent + 2 * _STEP, Text(text)
        yield from _properties(prop["properties"], indent + 2 * _STEP)


def _support(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence about the support status; none for what has always been supported."""
    since = f" since {facts['since']}" if facts["since"] else ""
    if facts["status"] != _SUPPORTED:
        return [f"{facts['status'].capitalize()}{since}: {facts['status_message'] or 'do not use it'}."]
    return [f"{since.strip().capitalize()}."] if since else []


def _print(page: Iterator[tuple[int, Text]]) -> None:
    from rich.padding import Padding

    out = console()
    for indent, line in page:
        out.print(Padding(line, (0, 0, 0, indent), expand=False) if line else "")


def _function_names(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from stoker.authoring.reference import function_names

    return [name for name in function_names() if name.startswith(incomplete)]


@click.command("functions")
@click.argument("name", required=False, metavar="[NAME]", shell_complete=_function_names)
@_FORMAT
def functions(name: str | None, form: str) -> None:
    """List the functions of templates; or show the function NAME: its arguments, and the versions that have it.

    \b
    Examples:
      stoker functions
      stoker functions str_replace
      stoker functions Fn::Sub -f json
    """
    from stoker.authoring.reference import function_details, function_names

    known = function_names()
    if name is None:
        rows = [
            {"function": function, "description": _newest(function_details(function))["description"].partition("\n")[0]}
            for function in known
        ]
        show_rows(rows, ("function", "description"), form)
        return
    exact = next((function for function in known if function.lower() == name.lower()), None)
    if exact is None:
        close = closest(name, known)
        raise CommandFailed(
            f"There is no function {name}; {f'did you mean {close}?' if close else '`stoker functions` lists all.'}"
        )
    variants = function_details(exact)
    if form == "table":
        _print(_function_page(variants))
    else:
        show_rows(variants, ("function", "description", "versions"), form)


def _newest(variants: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the newest variant of a function for values; if it has none, the newest of all."""
    return ([variant for variant in variants if "values" in variant["versions"]] or variants)[-1]


def _function_page(variants: list[dict[str, Any]]) -> Iterator[tuple[int, Text]]:
    from rich.text import Text

    yield 0, Text(variants[0]["function"], "bold")
    for variant in variants:
        for paragraph in variant["description"].split("\n"):
            yield 0, Text(paragraph)
        for place, versions in variant["versions"].items():
            yield _STEP, Text(f"In {place}: {', '.join(versions)}", "dim")
