"""Templates that are built from values of which some are not known yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.unknown import Unknown


def as_parameters(template: Mapping[str, object]) -> tuple[Mapping[str, object], dict[str, object]]:
    """Replace every unknown value in a template by a parameter; return the template and the parameters' values."""
    native = "heat_template_version" in template
    parameters: dict[str, object] = {}

    def known(value: Any) -> Any:
        if isinstance(value, Unknown):
            name = f"unknown_{len(parameters)}"
            parameters[name] = value
            return {"get_param" if native else "Ref": name}
        if isinstance(value, Mapping):
            return {key: known(inner) for key, inner in value.items()}
        return [known(inner) for inner in value] if isinstance(value, list) else value

    plain = known(template)
    if not parameters:
        return template, {}
    section, declaration = ("parameters", {"type": "json"}) if native else ("Parameters", {"Type": "Json"})
    declared = {**plain.get(section, {}), **dict.fromkeys(parameters, declaration)}
    return {**plain, section: declared}, parameters
