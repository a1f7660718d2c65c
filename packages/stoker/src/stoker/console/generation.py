"""Templates that are generated from the objects of the project, with environments that import them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer
from stoker.console.permissions import CREATE, GENERATE
from stoker.console.rendering import as_yaml

_MOST_REASONS = 200
"""Rows about what was left out that a page shows."""


def show(exchange: Exchange) -> None:
    """Show the form; with `scan` in the URL, ask the services, and show the template of what they list.

    Raises ApiError if policy does not allow that.
    """
    exchange.permissions.require(*GENERATE)
    chosen = exchange.request.get_param_as_list("type") or []
    tags, name = exchange.query("tag").split(), exchange.query("name").strip()
    groups = bool(exchange.query("groups"))
    generated = None
    if exchange.query("scan"):
        query = {"type": chosen, "tag": tags, "name": name or None, "groups": "true" if groups else "false"}
        generated = exchange.api.get("/generated_template", query)["generated_template"]
    exchange.show(
        "generate.html",
        types=exchange.api.get("/generated_template/resource_types")["resource_types"],
        chosen=chosen,
        tags=" ".join(tags),
        name=name,
        groups=groups,
        **shown(exchange, generated),
    )


def shown(exchange: Exchange, generated: Answer | None) -> dict[str, Any]:
    """Return what a page shows of a generated template; `generated` is None without one."""
    if generated is None:
        return {"generated": None}
    reasons = Counter((left_out["resource_type"], left_out["reason"]) for left_out in generated["left_out"])
    grouped = generated.get("grouped")
    template, environment = documents(generated, "imports")
    return {
        "generated": {
            "template": template,
            "environment": environment,
            "grouped": _grouped(grouped) if grouped else [],
            "moved": len(grouped["environment"]["moved"]) if grouped else 0,
            "number": len(generated["resources"]),
            "counts": Counter(resource["resource_type"] for resource in generated["resources"]),
            "left_out": [(*key, number) for key, number in reasons.most_common(_MOST_REASONS)],
            "more_left_out": max(0, len(reasons) - _MOST_REASONS),
            "left_out_properties": generated["left_out_properties"],
            "unread": generated["unread"],
            "without_value": generated["parameters_without_value"],
            "create_refusal": exchange.permissions.refusal(*CREATE),
        }
    }


def documents(generated: Answer, section: str) -> tuple[str, str]:
    """Return a template and its environment as YAML; `section` of the environment is written with an entry a line."""
    from stoker.authoring.added_entries import with_entries
    from stoker.authoring.convert.templates import to_yaml  # most processes generate no template

    environment = dict(generated["environment"])
    entries: Sequence[Mapping[str, object]] = environment.pop(section)
    return to_yaml(generated["template"]), with_entries(as_yaml(environment) if environment else "", section, entries)


def _grouped(grouped: Answer) -> list[tuple[str, str]]:
    from stoker.authoring.convert.templates import to_yaml

    template, environment = documents(grouped, "moved")
    nested = [(name, to_yaml(text)) for name, text in sorted(grouped["files"].items())]
    return [("template.yaml", template), ("environment.yaml", environment), *nested]
