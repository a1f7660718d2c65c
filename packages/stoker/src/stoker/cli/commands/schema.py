"""`stoker schema`: JSON Schemas of templates, environments and test files."""

from __future__ import annotations

import json

import click

_KINDS = ("hot", "cfn", "environment", "test", "project")


@click.command()
@click.argument("kind", metavar="hot|cfn|environment|test|project", type=click.Choice(_KINDS))
@click.option(
    "--short-tags",
    is_flag=True,
    help="For cfn: accept any string or list in place of a value, for editors that do not know the meaning of "
    "short tags such as !Ref.",
)
def schema(kind: str, short_tags: bool) -> None:
    """Print the JSON Schema of templates, environments, test files or project files, for editors.

    Editors with a schema check and complete HOT templates (hot), CloudFormation templates (cfn), environments, the test
    files of `stoker test` (test), and sets of stacks (project) while you type. The schema (draft-07) has all resource
    types that are installed, those of plug-ins included. It knows neither references nor nested templates: `stoker
    lint` finds more.

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
    if kind == "project":
        from stoker.authoring.document_grammar import schema_of
        from stoker.authoring.project_files.declarations import FILE as PROJECT

        schema = schema_of(PROJECT, "Sets of stacks that are deployed together", DRAFT)
    elif kind == "test":
        from stoker.authoring.document_grammar import schema_of
        from stoker.authoring.test_files.declarations import FILE

        schema = schema_of(FILE, "Tests of templates", DRAFT)
    elif kind == "cfn":
        schema = of_cfn(registry, short_tags)
    else:
        schema = of_hot(registry) if kind == "hot" else of_environment(registry)
    click.echo(json.dumps(schema, indent=1, ensure_ascii=False))
