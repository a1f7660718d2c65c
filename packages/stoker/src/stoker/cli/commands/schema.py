"""`stoker schema`: JSON Schemas of templates, environments and test files."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("kind", metavar="hot|cfn|environment|test", type=click.Choice(["hot", "cfn", "environment", "test"]))
@click.option(
    "--short-tags",
    is_flag=True,
    help="For cfn: accept any string or list in place of a value, for editors that do not know the meaning of "
    "short tags such as !Ref.",
)
def schema(kind: str, short_tags: bool) -> None:
    """Print the JSON Schema of templates, environments or test files, for editors.

    Editors with a schema check and complete HOT templates (hot), CloudFormation templates (cfn), environments, and the
    test files of `stoker test` (test) while you type. The schema (draft-07) has all resource types that are installed,
    those of plug-ins included. It knows neither references nor nested templates: `stoker lint` finds more.

    \b
    Examples:
      stoker schema hot > hot.schema.json
      stoker schema cfn --short-tags > cfn.schema.json
    """
    from stoker.authoring.json_schema.environments import of_environment
    from stoker.authoring.json_schema.templates import DRAFT, of_cfn, of_hot
    from stoker.plugins.registry import Registry

    if short_tags and kind != "cfn":
        raise click.UsageError("--short-tags is for CloudFormation templates (cfn).")
    registry = Registry.from_entry_points()
    if kind == "test":
        from stoker.authoring.test_files.declarations import FILE
        from stoker.authoring.test_files.grammar import schema_of

        found = schema_of(FILE, "Tests of templates", DRAFT)
    elif kind == "cfn":
        found = of_cfn(registry, short_tags)
    else:
        found = of_hot(registry) if kind == "hot" else of_environment(registry)
    click.echo(json.dumps(found, indent=1, ensure_ascii=False))
