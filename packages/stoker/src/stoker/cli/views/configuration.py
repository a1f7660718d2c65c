"""Problems of configuration files, printed before a program is started with them."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.cli.terminal.messages import say


def check_configuration(files: Sequence[str]) -> None:
    """Read configuration files as the programs will do, and name the options in them that do not exist.

    Raises oslo_config.cfg.Error, which names all values that are not acceptable.
    """
    if not files:
        return
    from stoker.base.config import load_config  # the engine's extra has what it needs
    from stoker.base.unused_options import unknown_options

    for unknown in unknown_options(load_config([], files)):
        say(f"stoker: warning: {unknown.sentence}", err=True)
