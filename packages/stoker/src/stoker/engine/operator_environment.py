"""The operator's environment: the merged files of a directory, which every stack's environment overrides. They are
merged over the default environment, which is part of the package.

docs/how-to/operator-environment.md describes the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from stoker.base.errors import Invalid, StokerError
from stoker.template.document import Document
from stoker.template.environment import Environment
from stoker.template.packaged import packaged_environment, packaged_templates
from stoker.template.registry import is_template_name
from stoker.template.template import Template

_HONOURED = frozenset({"resource_registry", "parameter_defaults"})
_FILE = "file://"


@dataclass(frozen=True, slots=True)
class OperatorEnvironment:
    """`environment` maps types and sets parameter defaults; `templates` has the content of the templates for its types,
    by their URLs. `problems` are the unusable parts of it, one sentence each. Without arguments, it is the default
    environment alone.
    """

    environment: Environment = field(default_factory=lambda: Environment.from_data(packaged_environment()))
    templates: Mapping[str, str] = field(default_factory=packaged_templates)
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, directory: str, template_directory: str) -> OperatorEnvironment:
        """Read all `*.yaml` files of `directory` in the order of their names; none if the directory does not exist.

        Templates that the environment names without a path are read from `template_directory`. Raises TemplateInvalid
        for an invalid file, Invalid for one that cannot be read. A missing or invalid template does not prevent the
        service from starting: the types mapped to it are unknown.
        """
        problems: list[str] = []
        data = [_environment_data(path, problems) for path in sorted(Path(directory).glob("*.yaml"))]
        merged = Environment.merged([packaged_environment(), *data], {}).to_data()
        templates = dict(packaged_templates())
        registry = {
            name: _target(target, Path(template_directory)) for name, target in merged["resource_registry"].items()
        }
        for name, url in _template_mappings(registry):
            if url in templates:
                continue
            try:
                templates[url] = _template_text(url)
            except (OSError, UnicodeDecodeError, StokerError) as error:
                problems.append(f"{name} is mapped to {url}, which is unusable: {error}")
        environment = Environment.from_data({**merged, "resource_registry": registry})
        return cls(environment, templates, tuple(problems))


def _environment_data(path: Path, problems: list[str]) -> Mapping[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"The environment {path} cannot be read: {error}") from error
    data = Document.parse(text, source=str(path)).data if text.strip() else {}
    Environment.from_data(data, source=str(path))
    passed_over = sorted(set(data) - _HONOURED)
    if passed_over:
        problems.append(
            f"{path}: only types and parameter defaults apply to every stack; ignored: {', '.join(passed_over)}"
        )
    return {section: value for section, value in data.items() if section in _HONOURED}


def _target(target: object, directory: Path) -> object:
    """Return the target of a name, as a URL if it is a template's file; also for entries of `resources`."""
    if isinstance(target, Mapping):
        return {name: _target(below, directory) for name, below in target.items()}
    if isinstance(target, str) and is_template_name(target) and "://" not in target:
        return (directory / target).absolute().as_uri()
    return target


def _template_mappings(entries: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, target in entries.items():
        if isinstance(target, Mapping):
            yield from _template_mappings(target)
        elif isinstance(target, str) and is_template_name(target):
            yield name, target


def _template_text(url: str) -> str:
    if not url.startswith(_FILE):
        raise Invalid("templates in the operator's environment must be files (file://)")
    path = Path(unquote(url.removeprefix(_FILE)))
    text = path.read_text(encoding="utf-8")
    Template.load(text, source=str(path))
    return text
