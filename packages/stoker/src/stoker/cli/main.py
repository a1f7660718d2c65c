"""The `stoker` command."""

from __future__ import annotations

import codecs
import io
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from stoker import __version__
from stoker.cli.framework import Commands


@dataclass(frozen=True, slots=True)
class Command:
    """Where a command is, as `MODULE:NAME` of `stoker.cli.commands`, and the first sentence of its help.

    The module of a command that is above this package has its full name.
    """

    place: str
    summary: str


COMMANDS: Mapping[str, Command] = {
    "up": Command("local:up", "Start Stoker and an emulated cloud on this machine."),
    "down": Command("local:down", "Stop Stoker; all data is kept."),
    "status": Command("local:status", "Show which processes are running, and why one was restarted last."),
    "deploy": Command("deploy:deploy", "Create or update the stack NAME, after showing the plan."),
    "plan": Command("deploy:plan", "Show what `deploy` would do to the stack NAME, without doing it."),
    "show": Command("deploy:show", "Show the saved plan FILE, as it was when it was saved."),
    "drift": Command(
        "drift:drift",
        "Ask the cloud for the objects of the stack NAME, and show how they differ from its definition.",
    ),
    "delete": Command("deploy:delete", "Delete the stack NAME with all its resources, after showing the plan."),
    "approvals": Command("approvals:approvals", "List the changes that wait for your approval."),
    "approve": Command(
        "approvals:approve", "Approve the change REQUEST, after showing its plan; or that of a saved plan."
    ),
    "break-glass": Command(
        "approvals:break_glass",
        "Allow the change REQUEST, or that of a saved plan, in an emergency: without approvals, outside of windows.",
    ),
    "change-control": Command(
        "approvals:change_control",
        "Show what changes of the stack NAME need, or without NAME, of all stacks of the project; or set or remove it.",
    ),
    "policies": Command(
        "policies:policies",
        "List the policies for plans of the stack NAME, or without NAME, of the project's stacks; set or remove them.",
    ),
    "import": Command("transfers:import_objects", "Import existing objects as resources of the stack NAME."),
    "move": Command(
        "transfers:move",
        "Keep the object of a resource that has another name in the template, or gets into another stack.",
    ),
    "refactor": Command(
        "refactor:refactor", "Move resources between stacks, by new templates of several stacks at once."
    ),
    "forget": Command("transfers:forget", "Remove resources from the stack NAME, and keep their objects."),
    "generate": Command(
        "generate:generate",
        "Write a template of the objects that the project has, and an environment that imports them.",
    ),
    "outputs": Command(
        "logs:outputs",
        "List the outputs of the stack NAME; or print the value of the output KEY alone, for scripts.",
    ),
    "logs": Command(
        "logs:logs",
        "Show the events of the stack NAME and its nested stacks, oldest first: when, which resource, what and why.",
    ),
    "find": Command("find:find", "Find the stack and resource that have an object, by its ID, name or address."),
    "orphans": Command("orphans:orphans", "Find objects that Stoker has made and that belong to no stack any more."),
    "sync": Command(
        "sync:sync", "Keep the stacks of a project as SOURCE says: a directory, or the URL of a Git repository."
    ),
    "stack": Command("stacks:stack", "Show stacks and run actions on them."),
    "snapshot": Command("snapshots:snapshot", "Take, restore and delete snapshots of stacks."),
    "guests": Command(
        "guests:guests",
        "Build, list and delete the images of guests, which run in the servers of the emulated cloud.",
    ),
    "init": Command(
        "init:init",
        "Write templates of a KIND to begin with into a new directory; without KIND, list the kinds.",
    ),
    "lint": Command(
        "lint:lint",
        "Check templates without a server; for a directory, check all templates below it; - is the standard input.",
    ),
    "test": Command(
        "stoker.test_command:test",
        "Run the tests of templates: the given files *.test.yaml, or those in and below the working directory.",
    ),
    "rehearse": Command(
        "stoker.rehearse_command:rehearse",
        "Rehearse the life of a stack: create, update, scale and delete it again and again; let something go wrong.",
    ),
    "fmt": Command(
        "format:fmt",
        "Format templates; for a directory, format all templates below it; - is the standard input.",
    ),
    "graph": Command("graph:graph", "Draw the resources of a template and their dependencies, without a server."),
    "convert": Command("convert:command", "Convert a template to HOT or to CloudFormation, without a server."),
    "types": Command(
        "reference:types",
        "List the resource types, or those with PART in their names; or show the properties and attributes of TYPE.",
    ),
    "functions": Command(
        "reference:functions",
        "List the functions of templates; or show the function NAME: its arguments, and the versions that have it.",
    ),
    "lsp": Command("lsp:lsp", "Run the language server for editors, on standard input and output."),
    "mcp": Command(
        "stoker.mcp_command:mcp",
        "Serve the Model Context Protocol on standard input and output, for programs with language models.",
    ),
    "schema": Command(
        "schema:schema", "Print the JSON Schema of templates, environments, test files or project files, for editors."
    ),
    "completion": Command(
        "completion:completion",
        "Print the script with which SHELL (bash, zsh or fish) completes commands, options, names and files.",
    ),
    "demo": Command("demo:demo", "Start Stoker with an emulated cloud, deploy an example, and change it."),
    "engine": Command("cluster:engine", "Run an engine of a cluster, until SIGTERM."),
    "api": Command("cluster:api", "Serve the Orchestration API for a cluster's engines, until SIGTERM."),
    "api-cfn": Command(
        "cluster:api_cfn",
        "Serve the CloudFormation interface for a cluster's engines, until SIGTERM.",
    ),
    "db": Command("database:database", "Maintain the database that the engines share."),
    "keystone-setup": Command(
        "keystone:keystone_setup",
        "Create what a cluster needs in the identity service: roles, service user, stack domain, and catalog entries.",
    ),
    "takeover": Command(
        "takeover:command",
        "Take over the stacks of a running Heat from its database, under the same IDs, names and signal URLs.",
    ),
    "service": Command("inside:service", "Show the engines of a cluster."),
    "operation": Command(
        "inside:operation",
        "Show unfinished operations, and those that were set aside because engines died while running them.",
    ),
}
"""Only the requested command is imported, and none to list them: some import large parts of the engine."""


_OTHER_NAMES = {
    "apply": "deploy",
    "cancel": "stack cancel",
    "check": "stack check",
    "create": "deploy",
    "describe": "stack show",
    "destroy": "delete",
    "diff": "plan",
    "events": "logs",
    "format": "fmt",
    "history": "stack history",
    "list": "stack list",
    "lock": "stack lock",
    "preview": "plan",
    "rename": "move",
    "resources": "stack resources",
    "resume": "stack resume",
    "retry": "stack retry",
    "rollback": "stack rollback",
    "start": "up",
    "stop": "down",
    "suspend": "stack suspend",
    "unlock": "stack unlock",
    "update": "deploy",
    "validate": "lint",
}
"""What users of other tools write, and the command that they mean."""


class Stoker(Commands):
    """The commands of the table above."""

    def hint(self, context: click.Context, name: str) -> str:
        if name in _OTHER_NAMES:
            return f"`{context.command_path} {_OTHER_NAMES[name]}`"
        return super().hint(context, name)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].place.partition(":")
        full_name = module if "." in module else f"stoker.cli.commands.{module}"
        command: click.Command = getattr(import_module(full_name), attribute)
        return command

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands from the table, which click would import all."""
        named = [CompletionItem(name, help=COMMANDS[name].summary) for name in COMMANDS if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, context, incomplete)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])


@click.group(cls=Stoker, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stoker")
def cli() -> None:
    """Create, update and delete stacks of OpenStack resources that are described in templates."""


_SIMILAR = "stoker-similar"
_IN_ASCII = {"…": "...", "→": "->", "✓": "+", "✗": "x"}


def _similar(error: UnicodeError) -> tuple[str, int]:
    """Return what is shown in place of characters that the terminal cannot show; an error handler of codecs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_IN_ASCII.get(character, "?") for character in error.object[error.start : error.end]), error.end


def main() -> None:
    """Entry point."""
    codecs.register_error(_SIMILAR, _similar)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_SIMILAR)  # names and outputs in characters that the terminal cannot show
    logging.getLogger("keystoneauth").addHandler(logging.NullHandler())  # its errors contain what it warns about
    cli(prog_name="stoker")
