"""`stoker lsp`: the language server."""

from __future__ import annotations

import logging

import click


@click.command()
@click.option("--stdio", is_flag=True, help="Use standard input and output; the default, which some editors state.")
@click.option("--log-file", type=click.Path(dir_okay=False), metavar="FILE", help="Write errors of the server here.")
def lsp(stdio: bool, log_file: str | None) -> None:
    """Run the language server for editors, on standard input and output.

    Editors that support the Language Server Protocol start this command for HOT and CloudFormation templates and for
    environments. They show diagnostics while you type, complete and explain names, go to definitions, rename, and
    format. Other YAML files get no diagnostics.

    Settings, as initializationOptions or in the editor's section "stoker": `environments`, a list of environments to
    check templates with.

    \b
    Examples:
      stoker lsp
      stoker lsp --stdio --log-file stoker-lsp.log
    """
    from stoker.base.extras import require_parts

    require_parts("stoker lsp", ["lsp"])
    from stoker.language_server.server import build

    logging.basicConfig(filename=log_file, level=logging.WARNING if log_file else logging.CRITICAL)
    build().start_io()
