"""The pages of the programs with Heat's names, from the declarations of `stoker_heat_commands`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from manual_pages import roff
from stoker.processes.readiness import CHECKS
from stoker_heat_commands import manage, programs, status, trial_server

CONFIGURATION_OPTIONS = (
    ("--config-file PATH", "Configuration file; repeatable, later ones override."),
    ("--config-dir DIR", "Directory whose files `*.conf` are read after the configuration files; repeatable."),
    ("-d, --debug", "Log at the level DEBUG."),
    ("--log-file PATH", "Log to this file.  [default: standard error]"),
    ("--log-dir LOG_DIR", "Directory of `--log-file`."),
    ("--log-config-append PATH", "Configuration file of Python's logging, instead of the other options for logs."),
    ("--use-syslog, --use-journal, --use-json", "Log to syslog or to the journal, or in JSON."),
    ("--version", "Show the version and exit."),
    ("-h, --help", "Show all options and exit."),
)
"""Options of oslo.config and oslo.log that operators use; `--help` lists all of the installed releases."""

_NAME = re.compile("^`[^`]+`: ")
"""How the docstring of a program's module begins."""
_PLACES = "~/.heat, ~, /etc/heat, /etc"
_SERVERS = """Served by uWSGI, mod_wsgi and other servers that load a file, which defines `application`. As a program,
it serves the application on the loopback address, for a trial."""
_TWINS: Mapping[str, str] = {
    "heat-engine": "stoker-engine",
    "heat-api": "stoker-api",
    "heat-api-cfn": "stoker-api-cfn",
}


def pages() -> Iterator[roff.Page]:
    """Yield a page for each program that the distribution installs."""
    services: dict[str, Callable[[], None]] = {**programs.PROGRAMS, "heat-all": programs.everything}
    for name, function in services.items():
        yield _page(name, function, _settings(name), [_TWINS[name]] if name in _TWINS else list(_TWINS))
    yield _page(
        manage.NAME, manage, [("Commands", "\n".join(_commands())), *_settings(manage.NAME)], ["stoker-db"], "COMMAND"
    )
    yield _page(
        status.NAME, status, [*_checks(), *_settings(status.NAME)], ["stoker-keystone-setup"], "upgrade check [--json]"
    )
    for name, twin in (("heat-wsgi-api", "stoker-api"), ("heat-wsgi-api-cfn", "stoker-api-cfn")):
        yield _wsgi(name, twin)


def _page(
    name: str, described: Any, sections: Sequence[tuple[str, str]], related: Iterable[str], arguments: str = ""
) -> roff.Page:
    text = _NAME.sub("", inspect.getdoc(described) or "")
    text = text[0].upper() + text[1:]
    return roff.Page(
        name,
        text.partition("\n")[0],
        [
            ("Synopsis", roff.synopsis([f"{name} [OPTIONS] {arguments}".strip()])),
            ("Description", roff.paragraphs(text)),
            *sections,
            ("See also", roff.references(related)),
        ],
    )


def _settings(name: str) -> list[tuple[str, str]]:
    files = [
        ("heat.conf", f"Read without `--config-file`, from the first of {_PLACES} that has it."),
        (f"{name}.conf", "Read after heat.conf, from the same places."),
        (f"heat.conf.d, {name}.conf.d", "Directories with further files."),
    ]
    return [
        ("Options", roff.items((roff.option(names), meaning) for names, meaning in CONFIGURATION_OPTIONS)),
        ("Files", roff.items((roff.option(path), meaning) for path, meaning in files)),
    ]


def _commands() -> Iterator[str]:
    for name, command in manage.COMMANDS.items():
        usage = " ".join([name, *(_argument(names, options) for names, options in command.arguments)])
        yield roff.items([(roff.bold(name) + roff.option(usage.removeprefix(name)), command.help)])
        inner = [(", ".join(names), options["help"]) for names, options in command.arguments if "help" in options]
        if inner:
            yield f".RS\n{roff.items((roff.option(names), meaning) for names, meaning in inner)}\n.RE"


def _argument(names: Sequence[str], options: Mapping[str, Any]) -> str:
    """Return an argument as argparse's usage shows it."""
    word = "|".join(options["choices"]) if "choices" in options else options.get("metavar", names[-1].lstrip("-"))
    word = word if "choices" in options else word.upper()
    if not names[0].startswith("-"):
        return f"[{word}]" if options.get("nargs") == "?" else word
    return f"[{names[0]}]" if options.get("action") == "store_true" else f"[{names[0]} {word}]"


def _checks() -> list[tuple[str, str]]:
    statuses = [("0", "All is well."), ("1", "A warning."), ("2", "A failure."), ("255", "A check could not run.")]
    return [
        ("Checks", roff.items((roff.bold(name), (inspect.getdoc(check) or "")) for name, check in CHECKS.items())),
        ("Exit status", roff.items((roff.bold(number), meaning) for number, meaning in statuses)),
    ]


def _wsgi(name: str, twin: str) -> roff.Page:
    options = (
        (roff.option(f"{', '.join(names)} {names[0].lstrip('-').upper()}"), f"{options['help']}".capitalize() + ".")
        for names, options in trial_server.ARGUMENTS
    )
    environment = [(roff.bold("STOKER_CONFIG_FILES"), "Configuration files, separated by colons.")]
    sections = [
        ("Synopsis", roff.synopsis([f"{name} [OPTIONS]"])),
        ("Description", roff.paragraphs(_SERVERS)),
        ("Options", roff.items(options)),
        ("Environment", roff.items(environment)),
        ("See also", roff.references([twin])),
    ]
    kind = "CloudFormation interface" if name.endswith("cfn") else "Orchestration API"
    return roff.Page(name, f"The WSGI application of the {kind}", sections)
