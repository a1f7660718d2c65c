"""Keep a working copy of a Git repository up to date. Nothing in the repository is run."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from pathlib import Path
from typing import IO

from stoker.cli.terminal.errors import CommandFailed

_SECONDS = 300
"""How long one call of git may take."""
_URL = re.compile(r"(https?|ssh|file)://|[\w.-]+@[\w.-]+:")
_SAFE = (
    "core.symlinks=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
)
"""Configuration against repositories with links to files outside, or with programs (see gitprotocol-*, githooks)."""
_PASSWORD = re.compile(r"(?<=://)([^/@\s:]*):[^/@\s]+@")


def is_git_url(source: str) -> bool:
    """Return whether a source is the URL of a Git repository: https, http, ssh, file, or USER@HOST:PATH."""
    return _URL.match(source) is not None


def repository_name(url: str) -> str:
    """Return the last part of the URL of a repository, without `.git`."""
    return re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")


class GitCheckout:
    """A working copy of a branch, tag or commit `ref` in a directory of its own, which no other process uses."""

    def __init__(self, url: str, ref: str, directory: Path) -> None:
        """Prepare the directory. Raises CommandFailed if it has other files, or belongs to another process."""
        self.directory = directory
        self._url = url
        self._ref = ref
        mark = directory / ".git" / "stoker-sync"
        try:
            if directory.exists() and any(directory.iterdir()) and not mark.exists():
                raise CommandFailed(f"{directory} has other files: a working copy needs a directory of its own.")
            directory.mkdir(parents=True, exist_ok=True)
            self._git("init", "--quiet")
            self._lock = _locked(mark)
        except OSError as error:
            raise CommandFailed(f"{directory} cannot be used: {error.strerror or error}.") from error

    def update(self) -> str:
        """Fetch the newest commit of the ref into the working copy; return its hash. Raises CommandFailed."""
        self._git(
            "fetch", "--quiet", "--force", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", self._url,
            self._ref,
        )  # fmt: skip
        self._git("checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
        self._git("clean", "--quiet", "--force", "-d", "-x")
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str) -> str:
        settings = [part for setting in _SAFE for part in ("-c", setting)]
        try:
            done = subprocess.run(  # noqa: S603  the user's own git, without a shell
                ["git", *settings, "-C", str(self.directory), *arguments],  # noqa: S607
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except FileNotFoundError as error:
            raise CommandFailed("The program git is not installed.") from error
        except subprocess.TimeoutExpired as error:
            raise CommandFailed(f"git {arguments[0]} has not ended within {_SECONDS} seconds.") from error
        if done.returncode != 0:
            text = _PASSWORD.sub(r"\1:***@", done.stderr.strip())
            raise CommandFailed(f"git {arguments[0]} failed: {text or f'status {done.returncode}'}")
        return done.stdout


def _locked(path: Path) -> IO[str]:
    """Return a file that is locked until it is closed. Raises CommandFailed if another process has locked it."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise CommandFailed(f"Another process uses the working copy {path.parent.parent}.") from error
    return file
