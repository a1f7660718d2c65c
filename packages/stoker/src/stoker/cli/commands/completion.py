"""Names that the shell completes, of stacks and their resources as the service has them and of files; its scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from stoker.processes.directory import default_directory

if TYPE_CHECKING:
    from stoker.cli.client.stack_client import Stack, StackClient

_SECONDS = 5.0
_MOST = 500
"""Names that are offered at most; a shell lists them all."""


def stack_names(context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of the project's stacks that begin with `incomplete`."""
    return _offered(
        context, incomplete, lambda service: (stack["stack_name"] for stack in islice(service.stacks(), _MOST))
    )


def stack_or_plan_names(context: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return names of stacks, and of saved plans in the directory that `incomplete` names."""
    start = incomplete.rpartition("/")[2]
    above = incomplete[: len(incomplete) - len(start)]
    plans = sorted(path.name for path in Path(above or ".").glob("*.plan") if path.name.startswith(start))
    return [*stack_names(context, param, incomplete), *(f"{above}{name}" for name in plans)]


def file_names(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the names of files."""
    return [CompletionItem(incomplete, type="file")]


def resource_names(context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of the stack's resources that begin with `incomplete`."""
    return _of_stack(
        context, incomplete, lambda stack: (resource["resource_name"] for resource in stack.resources(depth=0))
    )


def output_names(context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the keys of the stack's outputs that begin with `incomplete`."""
    return _of_stack(context, incomplete, lambda stack: (output["output_key"] for output in stack.outputs()))


def snapshot_names(context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of the stack's snapshots that begin with `incomplete`."""
    return _of_stack(
        context, incomplete, lambda stack: (snapshot["name"] for snapshot in stack.snapshots.all() if snapshot["name"])
    )


def _of_stack(context: click.Context, incomplete: str, names: Callable[[Stack], Iterable[str]]) -> list[str]:
    """Return the names of parts of the stack that the command line names already."""
    stack = context.params.get("name")
    if not stack:
        return []
    return _offered(context, incomplete, lambda service: names(service.stack(stack)))


def _offered(context: click.Context, incomplete: str, names: Callable[[StackClient], Iterable[str]]) -> list[str]:
    """Return names that the service has; none if it cannot be reached, since a shell cannot show a message."""
    from stoker.cli.client.connection import connect

    directory = context.params.get("directory") or default_directory()
    try:
        candidates = list(names(connect(directory, context.params.get("os_cloud"), _SECONDS)))
    except Exception:  # whatever is wrong, the command itself will report it
        return []
    return sorted(name for name in candidates if name.startswith(incomplete))


SHELLS = ("bash", "zsh", "fish")
_FISH = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) \
%(prog_name)s)
    for completion in $response
        set -l parts (string split --max 1 "," $completion)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                complete --do-complete "'' $parts[2]"
            case plain
                echo $parts[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""
"""The script of click cuts descriptions at their first comma, and folders have no slash, so that a space follows."""


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script with which SHELL (bash, zsh or fish) completes commands, options, names and files.

    \b
    Examples:
      stoker completion bash > ~/.local/share/bash-completion/completions/stoker
      stoker completion fish > ~/.config/fish/completions/stoker.fish
      eval "$(stoker completion zsh)"
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    root = click.get_current_context().find_root().command
    # The version of Bash is not checked, unlike in the script's own method: it is Bash that runs the script.
    script = completion_class(root, {}, "stoker", "_STOKER_COMPLETE")
    click.echo((_FISH if shell == "fish" else script.source_template) % script.source_vars())
