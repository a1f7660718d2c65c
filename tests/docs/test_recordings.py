"""The recordings of the terminal in the manual: what they show, how they play, and that pages have them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from recordings import HEIGHT, RECORDINGS, Frame, Recorder, cast, prepared, svg

from stoker.cli.main import cli
from tests.docs.pages import written_pages

DOCS = Path(__file__).parents[2] / "docs"
RECORDED = DOCS / "_static" / "terminal"
_STYLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class _Typed(Recorder):
    """Keeps what a session types, and runs nothing."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def run(self, command: str) -> None:
        self.commands.append(command)

    def ask(self, command: str, until: str) -> None:
        self.run(command)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with prepared() as folder:
        monkeypatch.chdir(folder)
        yield folder


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_show_commands_that_exist(name: str) -> None:
    session, _ = RECORDINGS[name]
    session(typed := _Typed())
    header, *events = map(json.loads, (RECORDED / f"{name}.cast").read_text(encoding="utf-8").splitlines())
    assert (header["version"], header["height"]) == (2, HEIGHT)
    assert [event[0] for event in events] == sorted(event[0] for event in events)
    screens = [_STYLE.sub("", event[2]) for event in events]
    for command in typed.commands:
        assert any(f" {command}\r\n" in f"{screen}\r\n" for screen in screens), f"record {name} again: {command}"
        for part in (part for part in command.split(" && ") if part.startswith("stoker ")):
            words, found = shlex.split(part)[1:], click.Context(cli, info_name="stoker")
            group: click.Command = cli
            while isinstance(group, click.Group):
                group = group.get_command(found, words.pop(0)) or pytest.fail(f"there is no command: {part}")
            group.make_context(group.name, words, parent=found)
    shown = "".join(screens)
    assert "Traceback" not in shown
    assert "/tmp/" not in shown
    assert any(f"terminal/{name}.svg" in page.read_text(encoding="utf-8") for page in written_pages(DOCS)), "on no page"


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_are_small_and_respect_readers_who_prefer_less_motion(name: str) -> None:
    path = RECORDED / f"{name}.svg"
    assert path.stat().st_size < 300_000
    picture = ElementTree.parse(path).getroot()
    assert picture.get("aria-label") == RECORDINGS[name][1]
    used = {use.get("href") for use in picture.iter("{http://www.w3.org/2000/svg}use")}
    defined = {f"#{group.get('id')}" for group in picture.iter("{http://www.w3.org/2000/svg}g")}
    assert used <= defined
    style = path.read_text(encoding="utf-8").partition("</style>")[0]
    before, _, moving = style.partition("@media (prefers-reduced-motion: no-preference)")
    assert "animation" not in before
    assert "infinite" in moving
    assert not re.search(r"url\(|https?:", style.replace("http://www.w3.org/2000/svg", ""))


def test_a_recording_plays_each_screen_for_its_time() -> None:
    frames = [Frame(["$ a <b>"], 1.0), Frame(["$ a <b>", "\x1b[31mé\x1b[0m  &"], 3.0)]
    assert [json.loads(line)[0] for line in cast(frames).splitlines()[1:]] == [0.0, 1.0, 4.0]
    drawn = svg(frames, "a & b")
    assert "0.00%{transform:translateY(0px)}25.00%{transform" in drawn
    texts = [text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["$ a <b>", "é", "&"]
