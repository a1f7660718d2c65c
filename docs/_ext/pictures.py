"""Make the manual's pictures of the terminal: run the program in tmux, and save what the screen shows as SVG.

Run by `make pictures`. Needs tmux. The pictures are written to `docs/_static/terminal`.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

DOCS = Path(__file__).parents[1]
PICTURES = DOCS / "_static" / "terminal"
WIDTH, HEIGHT = 100, 46
_TIMEOUT = 120.0
THEME = TerminalTheme(
    (22, 27, 34),
    (201, 209, 217),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207),
     (177, 186, 196)],
    [(110, 118, 129), (255, 161, 152), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255),
     (86, 212, 221), (240, 246, 252)],
)  # fmt: skip
_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; \
font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's format without its fonts, which a browser would load from another host."""


FREE_PORTS = "--api-port 0 --cfn-port 0 --cloud-port 0"


class Terminal:
    """A shell in a terminal of its own, in a directory with the examples."""

    def __init__(self, folder: Path, width: int = WIDTH, height: int = HEIGHT) -> None:
        self._typed = ""
        self._socket = str(folder / "tmux")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_", "XDG_"))}
        self._environment = {
            **kept,
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "COLORTERM": "truecolor",
            "PYTHONWARNINGS": "ignore",
        }
        settings = folder / "shell"
        settings.write_text(f"PS1='$ '\nPROMPT_COMMAND='tmux -S {self._socket} wait-for -S ready'\n", encoding="utf-8")
        size = ["-x", str(width), "-y", str(height)]
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(folder), f"bash --rcfile {settings}")
        self._ready()

    def type(self, command: str, *, wait: bool = True) -> None:
        """Type a command on an empty screen; return when it has ended, or at once."""
        self.clear()
        self._typed = command
        self.press(command)
        self.enter()
        if wait:
            self._ready()

    def clear(self) -> None:
        """Clear the screen."""
        self._tmux("send-keys", "clear", "Enter")
        self._ready()

    def press(self, keys: str) -> None:
        """Type characters; tmux takes an unescaped semicolon at the end for the end of its own command."""
        self._tmux("send-keys", "-l", f"{keys[:-1]}\\;" if keys.endswith(";") else keys)

    def enter(self) -> None:
        """Press the Enter key."""
        self._tmux("send-keys", "Enter")

    def screen(self) -> str:
        """Return the lines of the screen, with the escape sequences of their colors."""
        return self._tmux("capture-pane", "-e", "-p")

    def _ready(self) -> None:
        self._tmux("wait-for", "ready")

    def until(self, pattern: str) -> None:
        """Wait until the screen shows a pattern."""
        self.while_not(pattern, lambda: None)

    def while_not(self, pattern: str, look: Callable[[], None]) -> None:
        """Call `look` repeatedly until the screen shows a pattern."""
        end = time.monotonic() + _TIMEOUT
        while not re.search(pattern, shown := self._tmux("capture-pane", "-p"), re.MULTILINE):
            if time.monotonic() > end:
                raise TimeoutError(f"the screen never showed {pattern}: {shown}")
            look()
            time.sleep(0.05)

    def finish(self) -> None:
        """Wait for the end of a command that was typed without waiting."""
        self._ready()

    def picture(self, name: str, start: str = "") -> None:
        """Save the screen, without the prompt at its end and empty lines.

        With `start`, a long output begins with the last line that has this string, below the command.
        """
        lines = self._tmux("capture-pane", "-e", "-p").rstrip().removesuffix("$").rstrip().splitlines()
        if start:
            first = max(number for number, line in enumerate(lines) if start in line)
            lines = [f"$ {self._typed}", "[…]", "", *lines[first:]]
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
        for line in (*lines, ""):
            console.print(Text.from_ansi(line), soft_wrap=True)
        svg = console.export_svg(title="", theme=THEME, code_format=_FORMAT, unique_id=name)
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")

    def close(self) -> None:
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=True,
        )
        return done.stdout


@contextmanager
def templates() -> Iterator[Path]:
    """Yield a directory with the templates of the examples and the tutorial."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        shutil.copytree(DOCS.parent / "examples" / "web-tier", folder, dirs_exist_ok=True)
        for template in ("network.yaml", "mistakes.yaml"):
            shutil.copy(DOCS / "tutorial" / template, folder)
        yield folder


def main() -> None:
    """Make all pictures."""
    if shutil.which("tmux") is None:
        sys.exit("pictures: tmux is not installed; on Debian, apt-get install tmux")
    with templates() as folder:
        terminal = Terminal(folder)
        try:
            terminal.type("stoker lint mistakes.yaml")
            terminal.picture("lint")
            terminal.type(f"stoker up --detach {FREE_PORTS}")
            _of_stacks(terminal)
        finally:
            terminal.type("stoker down")
            terminal.close()


def _of_stacks(terminal: Terminal) -> None:
    terminal.type("stoker deploy home -t network.yaml --yes")
    terminal.type("stoker plan home -t network.yaml -P range=192.168.20.0/24")
    terminal.picture("plan")
    terminal.type("stoker deploy web -t web-tier.yaml --yes", wait=False)
    terminal.until(r"\b(?:[89]|1\d) of \d+")
    terminal.picture("deploy", start="Plan:")
    terminal.finish()


if __name__ == "__main__":
    main()
