"""What a project file may consist of. The reader, the JSON Schema for editors and the reference are made from this."""

from __future__ import annotations

from stoker.authoring.document_grammar import ANYTHING, COUNT, FLAG, TEXT, Either, Key, ListOf, MapOf, Section

FROM = "from"

OUTPUT = Section(
    "output",
    {
        "stack": Key(TEXT, "The name of a stack of the project file.", required=True),
        "output": Key(TEXT, "The name of one of its outputs.", required=True),
    },
    "The output of another stack.",
)

REFERENCE = Section(
    "reference",
    {FROM: Key(OUTPUT, "The output whose value the parameter gets.", required=True)},
    "The value of a parameter that comes from another stack, which is deployed first.",
)


def is_reference(value: object) -> bool:
    """Return whether the value of a parameter is a reference: a map with the key `from` alone."""
    return isinstance(value, dict) and list(value) == [FROM]


PARAMETERS = MapOf(Either(REFERENCE, ANYTHING, is_reference), "parameter")

HOW = {
    "environments": Key(ListOf(TEXT), "Environments, relative to the project file; later ones override."),
    "parameters": Key(
        PARAMETERS,
        "Values of parameters. `{from: {stack: net, output: id}}` is the value of the output of another stack. Other "
        "maps are values; so is a map with the single key `from` in an environment.",
    ),
    "name": Key(
        TEXT,
        "The name of the stack in the cloud, in which `{stage}` is the name of the stage. It is the name in this file "
        "unless given, with a stage followed by `-` and the name of the stage.",
    ),
    "depends_on": Key(ListOf(TEXT), "Stacks that are deployed first, besides those whose outputs and exports it uses."),
    "tags": Key(ListOf(TEXT), "Tags of the stack."),
    "rollback": Key(FLAG, "Whether to roll back after a failure."),
    "timeout": Key(COUNT, "Timeout of an action on the stack, in minutes."),
}

STACK = Section(
    "stack",
    {"template": Key(TEXT, "The template, relative to the project file, or a URL.", required=True), **HOW},
    "A stack.",
)

VARIANT = Section(
    "variant",
    {"template": Key(TEXT, "The template, in place of the other one."), **HOW},
    "What is different in a stage: environments and dependencies are added to those of the stack, parameters override "
    "those of the same name, and all else takes the place of what the stack has.",
)

CLOUD = (
    "The cloud, an entry of clouds.yaml, in which the stacks are; `--os-cloud` and OS_CLOUD cannot name another one."
)

STAGE = Section(
    "stage",
    {
        "cloud": Key(TEXT, CLOUD),
        "environments": Key(ListOf(TEXT), "Environments of all stacks in this stage, before those of each stack."),
        "stacks": Key(
            MapOf(VARIANT, "stack"),
            "What is different in the stacks; a stack that is in this stage only needs a template here.",
        ),
    },
    "A copy of all stacks, such as one for tests and one for production.",
)

FILE = Section(
    "file",
    {
        "cloud": Key(TEXT, f"{CLOUD[:-1]}. Stages may have others."),
        "environments": Key(ListOf(TEXT), "Environments of all stacks, before those of each stack."),
        "stacks": Key(MapOf(STACK, "stack"), "The stacks.", required=True),
        "stages": Key(MapOf(STAGE, "stage"), "The stages; with any, a command needs `--stage`."),
    },
)
