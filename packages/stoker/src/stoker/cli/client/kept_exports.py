"""Keep exports of a stack for a while: outputs with their present values are added to a CloudFormation template."""

from __future__ import annotations

import json
from collections.abc import Mapping

import yaml

from stoker.cli.terminal.errors import CommandFailed

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OUTPUTS = "Outputs"


def with_exports(template: str, values: Mapping[str, object]) -> str:
    """Return a template that also exports these values by their names.

    Raises CommandFailed for a template without a place for outputs.
    """
    root = yaml.compose(template, Loader=_LOADER)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    sections = {key.value: (key, value) for key, value in entries}
    added = [
        f"{json.dumps(f'KeptExport{number}')}: {json.dumps({'Value': value, 'Export': {'Name': name}})}"
        for number, (name, value) in enumerate(sorted(values.items()), 1)
    ]
    if (
        _OUTPUTS not in sections
        or not isinstance(sections[_OUTPUTS][1], yaml.MappingNode)
        or not sections[_OUTPUTS][1].value
    ):
        if not isinstance(root, yaml.MappingNode) or root.flow_style or _OUTPUTS in sections:
            raise CommandFailed(f"The exports {', '.join(sorted(values))} cannot be kept: the template has no Outputs.")
        return f"{template.rstrip()}\n{_OUTPUTS}:\n" + "".join(f"  {entry}\n" for entry in added)
    outputs = sections[_OUTPUTS][1]
    first = outputs.value[0][0].start_mark
    text = (
        ", ".join(added) + ", " if outputs.flow_style else "".join(f"{entry}\n{' ' * first.column}" for entry in added)
    )
    return template[: first.index] + text + template[first.index :]
