"""The operator's environment: files of a directory, merged, that lie under the environment of every stack.

Rules: facts lifecycle.json (environment) and engine.yaml (environment, template_resources.sources).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from stoker.base.errors import Invalid, StokerError
from stoker.template.document import Document
from stoker.template.environment import Environment
from stoker.template.registry import is_template_name
from stoker.template.template import Template

_HONOURED = frozenset({"resource_registry", "parameter_defaults"})
_FILE = "file://"


@dataclass(frozen=True, slots=True)
class OperatorEnvironment:
    """`environment` maps types and gives parameter defaults; `templates` has the texts of the templates that it maps
    types to, by their `file://` URLs. `problems` says, one sentence each, what in it cannot be used.
    """

    environment: Environment = field(default_factory=lambda: Environment.from_data(None))
    templates: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, directory: str, template_directory: str) -> OperatorEnvironment:
        """All `*.yaml` files of `directory` in the order of their names; none when there is no such directory.

        A template that the environment names without a path is looked for in `template_directory`. Raises
        TemplateInvalid for a file that is no environment, Invalid for one that cannot be read. A template that is not
        there or is wrong does not keep the service from starting: the types mapped to it are not known then.
        """
        problems: list[str] = []
        data = [_environment_data(path, problems) for path in sorted(Path(directory).glob("*.yaml"))]
        merged = Environment.merged(data, {}).to_data()
        templates: dict[str, str] = {}
        registry = {
            name: _target(target, Path(template_directory)) for name, target in merged["resource_registry"].items()
        }
        for name, url in _template_mappings(registry):
            try:
                templates.setdefault(url, _template_text(url))
            except (OSError, UnicodeDecodeError, StokerError) as error:
                problems.append(f"{name} is mapped to {url}, which cannot be used: {error}")
        environment = Environment.from_data({**merged, "resource_registry": registry})
        return cls(environment, templates, tuple(problems))


NO_OPERATOR = OperatorEnvironment()


def _environment_data(path: Path, problems: list[str]) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"The environment {path} cannot be read: {error}") from error
    data = Document.parse(text, source=str(path)).data if text.strip() else {}
    Environment.from_data(data, source=str(path))
    passed_over = sorted(set(data) - _HONOURED)
    if passed_over:
        problems.append(f"{path}: only types and parameter defaults apply to every stack, not {', '.join(passed_over)}")
    return {section: value for section, value in data.items() if section in _HONOURED}


def _target(target: Any, directory: Path) -> Any:
    """What a name is mapped to, a template without a URL as the URL of its file; entries below `resources` alike."""
    if isinstance(target, Mapping):
        return {name: _target(below, directory) for name, below in target.items()}
    if isinstance(target, str) and is_template_name(target) and "://" not in target:
        return (directory / target).absolute().as_uri()
    return target


def _template_mappings(entries: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, target in entries.items():
        if isinstance(target, Mapping):
            yield from _template_mappings(target)
        elif isinstance(target, str) and is_template_name(target):
            yield name, target


def _template_text(url: str) -> str:
    if not url.startswith(_FILE):
        raise Invalid("only files (file://) are fetched for the operator's environment")
    path = Path(unquote(url.removeprefix(_FILE)))
    text = path.read_text(encoding="utf-8")
    Template.load(text, source=str(path))
    return text
