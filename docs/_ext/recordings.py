"""Record the manual's terminal sessions: run the program in tmux, and save what the screen shows while it works.

Run by `make pictures`, which needs tmux. Each session is saved twice in `docs/_static/terminal`: as a recording in the
format asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/), and as an SVG that plays it. The SVG shows the
last screen alone to readers who prefer reduced motion; with the fragment `#play` it plays for them, too, and with
`#still` for nobody.
"""

from __future__ import annotations

import html
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pictures import FREE_PORTS, PICTURES, THEME, Terminal, templates
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

WIDTH, HEIGHT = 90, 26
_PERIOD = 0.12
"""Seconds between two looks at the screen."""
_LONGEST = 1.6
"""Seconds that an unchanged screen is shown at most."""
_READ = 2.2
"""Seconds that a screen is shown after a command has ended."""
_LAST = 6.0
_CELL, _LINE, _MARGIN = 8.4, 19, 14
"""Width of a character, height of a line, and the space around the screen, in pixels for 14 pixels of font size."""


@dataclass(slots=True)
class Frame:
    """What the screen showed, as lines with escape sequences, and for how many seconds."""

    lines: list[str]
    seconds: float


@dataclass(slots=True)
class Recorder:
    """Types commands into a terminal, and keeps the frames."""

    terminal: Terminal
    frames: list[Frame] = field(default_factory=list)

    def run(self, command: str) -> None:
        """Type a command word by word, and record until the next prompt of the shell."""
        self.ask(command, until=r"\n\$ ?\n*\Z")
        self.terminal.finish()

    def ask(self, command: str, until: str) -> None:
        """Type a command word by word, and record until the screen matches the pattern of its question."""
        for number, word in enumerate(command.split(" ")):
            self.terminal.press(f" {word}" if number else word)
            self._look(_PERIOD)
        self.terminal.enter()
        time.sleep(_PERIOD)
        self.terminal.while_not(until, lambda: self._look(_PERIOD))
        self._look(_READ)

    def _look(self, seconds: float) -> None:
        lines = [line.rstrip() for line in self.terminal.screen().split("\n")][:HEIGHT]
        if self.frames and self.frames[-1].lines == lines:
            last = self.frames[-1]
            last.seconds = min(last.seconds + seconds, max(last.seconds, _LONGEST, seconds))
        else:
            self.frames.append(Frame(lines, seconds))


def cast(frames: list[Frame]) -> str:
    """Return frames as an asciicast v2: a header, and an event of output for each."""
    events: list[object] = [{"version": 2, "width": WIDTH, "height": HEIGHT, "env": {"TERM": "xterm-256color"}}]
    now = 0.0
    for frame in frames:
        screen = "\r\n".join(frame.lines).rstrip()
        events.append([round(now, 3), "o", f"\x1b[H\x1b[2J\x1b[0m{screen}"])
        now += frame.seconds
    events.append([round(now, 3), "o", ""])
    return "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events)


def svg(frames: list[Frame], described: str) -> str:
    """Return an SVG that plays frames: below each other on a strip, which moves behind a window."""
    defined: dict[str, int] = {}
    strip = []
    step = HEIGHT * _LINE + 2 * _MARGIN
    for number, frame in enumerate(frames):
        for row, line in enumerate(frame.lines):
            if line:
                name = defined.setdefault(line, len(defined))
                strip.append(f'<use href="#l{name}" y="{number * step + row * _LINE}"/>')
    console = Console(width=WIDTH, force_terminal=True, color_system="truecolor", legacy_windows=False)
    lines = "\n".join(f'<g id="l{name}">{_drawn(line, console)}</g>' for line, name in defined.items())
    total = sum(frame.seconds for frame in frames)
    now, stops = 0.0, []
    for number, frame in enumerate(frames):
        stops.append(f"{100 * now / total:.2f}%{{transform:translateY({-number * step}px)}}")
        now += frame.seconds
    stops.append(f"100%{{transform:translateY({-(len(frames) - 1) * step}px)}}")
    return _FORMAT.format(
        described=html.escape(described),
        width=round(WIDTH * _CELL + 2 * _MARGIN),
        height=step,
        background=THEME.background_color.hex,
        foreground=THEME.foreground_color.hex,
        last=-(len(frames) - 1) * step,
        seconds=f"{total:.2f}",
        stops="".join(stops),
        lines=lines,
        margin=_MARGIN,
        base=_MARGIN + _LINE - 5,
        strip="\n".join(strip),
    )


def _drawn(line: str, console: Console) -> str:
    """Return a line as SVG: a string for each run of characters with one style, at its column."""
    found, column = [], 0
    for segment in Text.from_ansi(line).render(console):
        style, width = segment.style, cell_len(segment.text)
        if segment.text.strip():
            words = segment.text.lstrip(" ")
            start = column + width - cell_len(words)
            color = style.color.get_truecolor(THEME).hex if style and style.color else ""
            looks = f' fill="{color}"' if color else ""
            looks += ' font-weight="bold"' if style and style.bold else ""
            looks += ' font-style="italic"' if style and style.italic else ""
            looks += ' opacity=".65"' if style and style.dim else ""
            found.append(f'<text x="{start * _CELL:.1f}"{looks}>{html.escape(words.rstrip(), quote=False)}</text>')
        column += width
    return "".join(found)


_FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{described}">
<title>{described}</title>
<style>
text {{ font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; }}
#strip {{ transform: translateY({last}px); }}
@media (prefers-reduced-motion: no-preference) {{
#strip {{ animation: play {seconds}s steps(1, end) infinite; }}
}}
#play:target ~ g #strip {{ animation: play {seconds}s steps(1, end) infinite; }}
#still:target ~ g #strip {{ animation: none; }}
@keyframes play {{ {stops} }}
</style>
<defs>
{lines}
</defs>
<view id="play"/><view id="still"/>
<rect width="100%" height="100%" rx="8" fill="{background}"/>
<g transform="translate({margin} {base})" fill="{foreground}"><g id="strip">
{strip}
</g></g>
</svg>
"""

OVERLAPPING = """\
heat_template_version: 2021-04-16

resources:
  net:
    type: OS::Neutron::Net
  office:
    type: OS::Neutron::Subnet
    properties:
      network: {get_resource: net}
      cidr: 10.0.0.0/24
  guests:
    type: OS::Neutron::Subnet
    depends_on: office
    properties:
      network: {get_resource: net}
      cidr: 10.0.0.0/25
"""

UNTIDY = """\
heat_template_version: 2021-04-16
resources:
    net:
        type:   OS::Neutron::Net
        properties:
            nmae: home
    subnet:
        type: OS::Neutron::Subnet
        properties: { network: {get_resource: nett}, cidr: 192.168.10.0/24 }
"""


def _up_and_deploy(recorder: Recorder) -> None:
    recorder.run("stoker up --detach")
    recorder.run("stoker deploy home -t network.yaml --yes")
    recorder.run("stoker deploy web -t web-tier.yaml --yes")
    recorder.run("stoker outputs web url")


def _plan_and_approve(recorder: Recorder) -> None:
    recorder.ask("stoker deploy home -t network.yaml -P range=192.168.20.0/24", until=r"\[y/N\]: ?\n*\Z")
    recorder.run("y")


def _fail_and_continue(recorder: Recorder) -> None:
    recorder.run("stoker deploy office -t office.yaml --yes")
    recorder.run("sed -i s,10.0.0.0/25,10.0.1.0/24, office.yaml")
    recorder.run("stoker deploy office -t office.yaml --yes")


def _lint_and_format(recorder: Recorder) -> None:
    recorder.run("stoker lint untidy.yaml")
    recorder.run("sed -i 's/nmae/name/; s/nett/net/' untidy.yaml")
    recorder.run("stoker fmt --diff untidy.yaml")
    recorder.run("stoker fmt untidy.yaml && stoker lint untidy.yaml")


RECORDINGS: Mapping[str, tuple[Callable[[Recorder], None], str]] = {
    "up-and-deploy": (_up_and_deploy, "stoker up starts an emulated cloud, and stoker deploy creates two stacks."),
    "plan-and-approve": (_plan_and_approve, "stoker deploy shows a plan, asks, and replaces a subnet."),
    "fail-and-continue": (_fail_and_continue, "A deployment fails, its template is corrected, and the next completes."),
    "lint-and-format": (_lint_and_format, "stoker lint finds two mistakes, and stoker fmt formats the template."),
}


@contextmanager
def prepared() -> Iterator[Path]:
    """Yield a directory with the files that the sessions use."""
    with templates() as folder:
        (folder / "office.yaml").write_text(OVERLAPPING, encoding="utf-8")
        (folder / "untidy.yaml").write_text(UNTIDY, encoding="utf-8")
        yield folder


def main() -> None:
    """Make all recordings."""
    if shutil.which("tmux") is None:
        sys.exit("recordings: tmux is not installed; on Debian, apt-get install tmux")
    with prepared() as folder:
        terminal = Terminal(folder, WIDTH, HEIGHT)
        try:
            terminal.type(f"stoker up --detach {FREE_PORTS} && stoker down")  # the next one uses the same ports
            for name, (session, described) in RECORDINGS.items():
                terminal.clear()
                recorder = Recorder(terminal)
                session(recorder)
                recorder.frames[-1].seconds = _LAST
                save(name, recorder.frames, described)
        finally:
            terminal.type("stoker down")
            terminal.close()


def save(name: str, frames: list[Frame], described: str, folder: Path = PICTURES) -> None:
    """Write a recording and the SVG that plays it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.cast").write_text(cast(frames), encoding="utf-8")
    (folder / f"{name}.svg").write_text(svg(frames, described), encoding="utf-8")


if __name__ == "__main__":
    main()
