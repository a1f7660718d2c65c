"""Where the problems are that a service reports: their places in the user's files."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from stoker.authoring.render import TextOf
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import StokerError
from stoker.cli.client.sources import Sources
from stoker.cli.terminal.places import short

MISSING = "parameter-missing"
"""The rule of the diagnostics about parameters without a value."""


def placed(
    sources: Sources, parameters: Collection[str], diagnostics: Iterable[Diagnostic]
) -> tuple[list[Diagnostic], TextOf]:
    """Return diagnostics with their places in the user's files, in their order, and what these contain by name.

    `parameters` are the names of those that were given besides environments.
    """
    from stoker.authoring.given_values import placed_where_given  # needed for problems only
    from stoker.template.document import Document

    texts = sources.named()
    names = {source: short(url) for source, (url, _) in texts.items()}
    shown = {names[source]: text for source, (_, text) in texts.items()}
    original = map(sources.as_written, diagnostics)
    renamed = [replace(item, source=names.get(item.source, item.source)) for item in original]
    urls = sources.environments
    try:
        environments = [Document.parse(sources.text(url), source=short(url)) for url in urls]
    except StokerError:  # the diagnostics are about that
        environments = []
    located = placed_where_given(map(_with_option, renamed), {names[""]}, environments, parameters)
    return sorted(located, key=Diagnostic.sort_key), shown.get


def _with_option(item: Diagnostic) -> Diagnostic:
    """Return a diagnostic, one about a missing value with the options that give it."""
    if item.rule != MISSING:
        return item
    return replace(item, hint=f"give it with -P {item.path[-1]}=VALUE, or in an environment (-e FILE)")
