"""Reading the configuration: the options of `stoker.base.options`, and those of the libraries that are used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from keystoneauth1 import loading
from oslo_config import cfg, types
from oslo_log import _options as logging_options
from oslo_log import log

from stoker import __version__
from stoker.base.config_files import Written, syntax_problems, written_values
from stoker.base.known_options import credentials
from stoker.base.options import LOGINS, OPTIONS
from stoker.base.similar import Suggestion, closest
from stoker.base.unused_options import unknown_options

_LOCATION, _PLACE = re.compile(r"LocationInfo\(location=<[^>]*>, detail=(['\"])(.*?)\1\)"), r"\2"
"""How oslo.config shows the location of a value, and the part of it that operators need: the file's path."""

_SHOWN = 100
"""How many characters of a value that is not acceptable are shown."""


class _Options(cfg.ConfigOpts):
    """Leaves the values of options that are also arguments to `_check`, which names all that are not acceptable."""

    def _validate_cli_options(self, namespace: object) -> None:
        """Do nothing. The library would write one sentence without the file, and exit."""


def load_config(
    args: Sequence[str] = (),
    files: Sequence[str] | None = None,
    register: Callable[[cfg.ConfigOpts], None] | None = None,
    prog: str = "stoker",
) -> cfg.ConfigOpts:
    """Read the configuration.

    `args` are command-line arguments (`--config-file`, `--debug` …), `files` the paths of files in the order in which
    they override each other. With None, `heat.conf`, `PROG.conf` and the directories `heat.conf.d` and `PROG.conf.d`
    are looked for where OpenStack's services have them: `~/.heat`, `~`, `/etc/heat`, `/etc`. `register` declares
    options of further libraries that the process uses. Raises oslo_config.cfg.Error with a message for the operator
    when values are not acceptable: it names all of them, each with its file and line.
    """
    config = _Options()
    register_options(config)
    if register is not None:
        register(config)
    default_files = list(files) if files is not None else cfg.find_config_files(project="heat", prog=prog)
    try:
        config(
            args=list(args),
            project="heat",
            prog=prog,
            version=__version__,
            default_config_files=default_files,
            default_config_dirs=None if files is None else [],
        )
    except cfg.ConfigFileParseError as error:
        files = default_files if error.config_file in default_files else [error.config_file]
        raise cfg.Error(_listed(syntax_problems(files))) from None
    except UnicodeDecodeError as error:
        raise cfg.Error(f"{_not_in_utf8(default_files)}: the file is not in UTF-8 ({error.reason})") from None
    _check(config)
    for group in LOGINS:
        config.register_opts(
            [option for option in credentials(config, group) if option.dest not in config[group]], group
        )
    return config


def register_options(config: cfg.ConfigOpts) -> None:
    """Register every option of Stoker on `config`."""
    for group, options in OPTIONS.items():
        config.register_opts(options, group=None if group == "DEFAULT" else group)
    for group in LOGINS:
        loading.register_auth_conf_options(config, group)
    log.register_options(config)


def shown_options(config: cfg.ConfigOpts) -> dict[str, object]:
    """Return the value of every option of Stoker by `[section] name`, with secret ones redacted."""
    return {
        f"[{group}] {option.name}": "***"
        if option.secret
        else (config if group == "DEFAULT" else config[group])[option.dest]
        for group, options in OPTIONS.items()
        for option in options
    }


def _not_in_utf8(paths: Iterable[str]) -> str:
    """Return which of the files cannot be decoded as UTF-8."""
    for path in paths:
        try:
            Path(path).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return path
    return "a file of --config-file or --config-dir"


def _check(config: cfg.ConfigOpts) -> None:
    """Read every value once, so that invalid ones are reported at start, all together, with misspelt names.

    Raises cfg.Error.
    """
    written = written_values(config)
    problems = [*_unacceptable_logins(config, written), *_unacceptable_values(config, written)]
    if problems:
        raise cfg.Error(_listed([*problems, *_misspelt(config)]))


def _listed(problems: list[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    return "\n  ".join([f"{len(problems)} problems:", *problems])


def _unacceptable_logins(config: cfg.ConfigOpts, written: list[Written]) -> Iterator[str]:
    for group in LOGINS:
        try:
            credentials(config, group)
        except cfg.Error as error:
            places = [value.place for value in written if (value.group, value.name) == (group, "auth_type")]
            yield f"{places[-1]}: {error}" if places else str(error)


def _unacceptable_values(config: cfg.ConfigOpts, written: list[Written]) -> Iterator[str]:
    for group, options in _checked(config):
        values = config if group == "DEFAULT" else config[group]
        for option in options:
            try:
                values[option.dest]
            except ValueError as error:
                yield _refusal(group, option, written, str(error))


def _checked(config: cfg.ConfigOpts) -> Iterator[tuple[str, Sequence[cfg.Opt]]]:
    """Yield sections with the options whose values are read at start: our own, and those of logging."""
    yield from OPTIONS.items()
    for _, options in logging_options.list_opts():
        yield "DEFAULT", [option for option in options if option.dest in config]


def _misspelt(config: cfg.ConfigOpts) -> list[str]:
    """Return the unknown options of Stoker's own sections that resemble known ones; none if a login is unknown."""
    try:
        found = unknown_options(config)
    except cfg.Error:
        return []
    ours = {*OPTIONS, *LOGINS}
    return [unknown.sentence for unknown in found if unknown.hint is not None and unknown.written.group in ours]


def _refusal(group: str, option: cfg.Opt, written: list[Written], error: str) -> str:
    """Return a sentence about a value that is not acceptable, with its place if it comes from a file.

    `error` is oslo.config's description, which is used for values from elsewhere. Secret values are not shown.
    """
    names = {(group, option.name), (group, option.dest)}
    names |= {(old.group or group, old.name or option.name) for old in option.deprecated_opts}
    own_values = [value for value in written if (value.group, value.name) in names]
    wrong = [
        value for value in (own_values if option.multi else own_values[-1:]) if _reason(option, value.value) is not None
    ]
    name = f"[{group}] {option.name}"
    if not wrong:
        return f"{name}: {'the value is not acceptable' if option.secret else _LOCATION.sub(_PLACE, error)}"
    shown = "the value" if option.secret else repr(wrong[0].value[:_SHOWN])
    return f"{wrong[0].place}: {name}: {shown} is not acceptable: {_accepted_values(option, wrong[0].value)}"


def _reason(option: cfg.Opt, value: str) -> str | None:
    """Return why a value is not acceptable, in the words of the option's type; None if it is."""
    try:
        option.type(value)
    except ValueError as error:
        return str(error)
    return None


def _accepted_values(option: cfg.Opt, value: str) -> str:
    """Return what an option accepts, and what was probably meant."""
    kind = option.type
    choices = getattr(kind, "choices", None)
    if choices:
        close = closest(value, choices)
        listed = f"use one of {', '.join(choice or repr(choice) for choice in choices)}"
        return f"{listed}; {Suggestion(value, close)}" if close is not None else listed
    if isinstance(kind, types.Boolean):
        return "use true or false"
    if isinstance(kind, types.Number):
        bounds = [
            f"{word} {bound}" for word, bound in (("at least", kind.min), ("at most", kind.max)) if bound is not None
        ]
        what = "a whole number" if isinstance(kind, types.Integer) else "a number"
        return " ".join([f"use {what}", *([f"of {' and '.join(bounds)}"] if bounds else [])])
    return (None if option.secret else _reason(option, value)) or "it does not have the form of such values"
