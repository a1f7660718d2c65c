"""Jinja templates of the console's pages; every value is escaped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import jinja2
import yaml
from markupsafe import Markup

from stoker.authoring.constraint_words import accepted
from stoker.console.horizon import horizon_page
from stoker.console.settings import PREFIX, ConsoleSettings
from stoker.console.tree import linked
from stoker.contract.views import NO_REASON


class Pages:
    """Renders templates; `static_url` returns the URL of a file, `settings` are those of the console."""

    def __init__(self, static_url: Callable[[str], str], settings: ConsoleSettings) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.PackageLoader("stoker.console"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(
            PREFIX=PREFIX,
            NO_REASON=NO_REASON,
            static=static_url,
            linked=linked,
            login_hint=settings.login_hint,
            horizon_page=partial(horizon_page, settings.horizon_url),
        )
        self._environment.filters.update(
            duration=duration,
            clock=clock,
            ago=ago,
            json=pretty,
            state=state,
            parts=split_state,
            reason=reason,
            breakable=breakable,
            accepted=accepted,
            lengths=length_in_words,
        )

    def render(self, template: str, values: Mapping[str, object]) -> str:
        """Return a page."""
        return self._environment.get_template(template).render(values)


def duration(seconds: float | None) -> str:
    """Return a duration like `1 h 2 min`, `2 min 5 s`, `5 s` or `< 1 s`; empty for None."""
    if seconds is None:
        return ""
    if seconds < 1:
        return "< 1 s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def clock(text: str | None) -> Markup:
    """Return a time of the API as an element; empty for None."""
    return _time(text, "")


def ago(text: str | None) -> Markup:
    """Return a time like `clock`, which scripts show as the time since then."""
    return _time(text, "ago", " UTC")


def _time(text: str | None, kind: str, zone: str = "") -> Markup:
    if not text:
        return Markup("")
    when = datetime.fromisoformat(text).astimezone(UTC)
    return Markup('<time class="{}" datetime="{}">{}</time>').format(kind, text, f"{when:%Y-%m-%d %H:%M:%S}{zone}")


def breakable(text: str) -> Markup:
    """Return the name of a type, which may be broken after its colons."""
    return Markup("::<wbr>").join(text.split("::"))


def pretty(value: object) -> str:
    """Return a value as indented JSON; a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def reason(text: str | None) -> str:
    """Return the reason of a state; empty for the one that says only that the state has changed."""
    return "" if text is None or text == NO_REASON else text


def length_in_words(declaration: Mapping[str, Any]) -> str:
    """Return the lengths that a declared parameter allows, such as `3 to 8 characters`; empty if it allows all."""
    least, most = int(declaration.get("MinLength") or 0), declaration.get("MaxLength")
    unit = {"CommaDelimitedList": "value", "Json": "entry"}.get(declaration["Type"], "character")
    units = "entries" if unit == "entry" else f"{unit}s"
    if most is None:
        return f"At least {least} {unit if least == 1 else units}." if least else ""
    if int(most) == least:
        return f"Exactly {least} {unit if least == 1 else units}."
    return f"{least} to {most} {units}." if least else f"At most {most} {unit if int(most) == 1 else units}."


def signature(declared: Mapping[str, object] | None) -> str:
    """Return a string that differs whenever the form for declared parameters does; empty if they are unknown."""
    if declared is None:
        return ""
    return hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest()[:16]


def state(text: str) -> Markup:
    """Return a state like CREATE_IN_PROGRESS as a badge with its action and its status."""
    action, status = split_state(text)
    words = f"{action} {status}".replace("_", " ").strip().capitalize()
    return Markup('<span class="state" data-status="{}">{}</span>').format(status, words)


def split_state(text: str) -> tuple[str, str]:
    """Return the action and the status of a state like CREATE_IN_PROGRESS."""
    for status in ("IN_PROGRESS", "COMPLETE", "FAILED"):
        if text.endswith(f"_{status}"):
            return text.removesuffix(f"_{status}"), status
    return text, ""


def as_yaml(value: object) -> str:
    """Return plain data as YAML for users, written by libyaml: PyYAML's own emitter takes five times as long."""
    return str(yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=100))
