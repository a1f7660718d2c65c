"""How problems look."""

from __future__ import annotations

import json
from email.message import Message
from pathlib import Path

import pytest
from pygls.workspace import PositionCodec

from stoker.authoring import render
from stoker.authoring.rules import RULES
from stoker.base import manual
from stoker.base.diagnostics import Diagnostic, Position
from stoker.cli.terminal import paint
from stoker.language_server import messages
from stoker.language_server.outline import Outline
from stoker.language_server.positions import Positions
from tests.authoring.support import WorkingDirectory
from tests.authoring.test_lint import BAD

TEXT = "resources:\n  web:\n    properties:\n      flavour: small\n"
PROBLEM = Diagnostic(
    "unknown-property",
    "there is no property 'flavour'",
    ("resources", "web", "properties"),
    "web.yaml",
    Position(4, 7),
    "did you mean 'flavor'?",
)


def explanation(diagnostic: Diagnostic, text: str | None) -> str:
    return "".join(part for part, _ in render.explanation(diagnostic, text))


def test_an_excerpt_has_a_caret_below_the_place() -> None:
    assert explanation(PROBLEM, TEXT) == (
        "error[unknown-property]: there is no property 'flavour'\n"
        " --> web.yaml:4:7  resources.web.properties\n"
        "3 |     properties:\n"
        "4 |       flavour: small\n"
        "  |       ^^^^^^^\n"
        "  = did you mean 'flavor'?\n"
    )


def test_excerpt_without_source_has_position_only() -> None:
    shown = explanation(PROBLEM, None)
    assert "web.yaml:4:7" in shown
    assert "^" not in shown


def test_position_after_the_end_of_the_document_is_accepted() -> None:
    beyond = Diagnostic("syntax", "ends too early", (), "web.yaml", Position(9, 1))
    assert "web.yaml:9:1" in explanation(beyond, TEXT)
    assert "^" in explanation(Diagnostic("syntax", "x", (), "w", Position(4, 80)), TEXT)


def test_markup_in_messages_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    paint.show([Diagnostic("function", "[bold]x[/bold] and [red]", source="a.yaml")], lambda source: None)
    assert "[bold]x[/bold] and [red]" in capsys.readouterr().out


def test_colors_are_optional(workdir: WorkingDirectory) -> None:
    workdir.write("bad.yaml", BAD)
    coloured = workdir.stoker("lint", "bad.yaml", environment={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    plain = workdir.stoker(
        "lint", "bad.yaml", environment={"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}
    )
    assert "\x1b[1;31m" in coloured.stdout
    assert "\x1b[1;31m" not in plain.stdout
    assert "\x1b[31m" not in plain.stdout
    assert "2 errors in 1 file" in plain.stdout


def test_summary_counts_findings() -> None:
    warning = Diagnostic("unused-parameter", "x", severity="warning")
    assert render.summary([], 1) == "no problems in 1 file"
    assert render.summary([PROBLEM, warning, warning], 3) == "1 error and 2 warnings in 3 files"


def test_sarif_has_rules_locations_and_levels(workdir: WorkingDirectory) -> None:
    workdir.write("with space/bad.yaml", BAD)
    log = json.loads(workdir.stoker("lint", "--format", "sarif", "with space").stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["unknown-property", "unknown-resource"]
    assert all(rule["shortDescription"]["text"] for rule in rules)
    first = run["results"][0]
    assert (first["ruleId"], first["level"], rules[first["ruleIndex"]]["id"]) == (
        "unknown-property",
        "error",
        first["ruleId"],
    )
    place = first["locations"][0]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "with%20space/bad.yaml"},
        "region": {"startLine": 6, "startColumn": 7},
    }
    assert place["logicalLocations"] == [{"fullyQualifiedName": "resources.word.properties"}]
    assert "did you mean 'length'?" in first["message"]["text"]


def test_diagnostics_link_to_rule_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def rule() -> dict[str, object]:
        sarif = render.to_sarif([PROBLEM], RULES, "1")
        found: dict[str, object] = sarif["runs"][0]["tool"]["driver"]["rules"][0]
        return found

    monkeypatch.setenv("STOKER_MANUAL_URL", "https://docs.example.com/stoker/")
    page = "https://docs.example.com/stoker/generated/rules/unknown-property.html"
    assert rule()["helpUri"] == render.to_json([PROBLEM], 1)["diagnostics"][0]["url"] == page
    outline = Outline.of(TEXT)
    positions = Positions(TEXT, PositionCodec())
    described = messages.diagnostic(PROBLEM, outline, positions).code_description
    assert described is not None and described.href == page
    monkeypatch.delenv("STOKER_MANUAL_URL")
    monkeypatch.setattr(manual, "_packaged", lambda: None)
    assert "helpUri" not in rule() and "url" not in render.to_json([PROBLEM], 1)["diagnostics"][0]
    monkeypatch.setattr(manual, "BUILT", tmp_path)
    assert messages.diagnostic(PROBLEM, outline, positions).code_description is None
    built = tmp_path / "generated" / "rules" / "unknown-property.html"
    built.parent.mkdir(parents=True)
    built.touch()
    described = messages.diagnostic(PROBLEM, outline, positions).code_description
    assert described is not None and described.href == built.as_uri()
    assert "helpUri" not in rule(), "a report for others names no file of this machine"


def test_plug_in_package_links_to_its_manual(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = Message()
    stated["Project-URL"] = "Source, https://example.com/source"
    stated["Project-URL"] = "Documentation, https://example.com/manual"
    monkeypatch.delenv("STOKER_MANUAL_URL", raising=False)
    monkeypatch.setattr("importlib.metadata.metadata", lambda _name: stated)
    manual._packaged.cache_clear()
    assert manual.rule_page("limit") == "https://example.com/manual/generated/rules/limit.html"
    manual._packaged.cache_clear()


@pytest.mark.parametrize("column", [1, 30, 48, 90, 117, 120])
def test_long_lines_are_cut_around_the_caret(column: int) -> None:
    line = "".join(chr(97 + number % 26) if number % 4 else "[" for number in range(120))
    problem = Diagnostic("syntax", "x", (), "w", Position(2, column))
    *_, before, source, caret = "".join(p for p, _ in render.explanation(problem, f"short\n{line}", 60)).splitlines()
    assert max(map(len, (before, source, caret))) <= 60
    assert source[caret.index("^") :].startswith(line[column - 1])
    assert line in "".join(piece for piece, _ in render.explanation(problem, line + f"\n{line}"))
