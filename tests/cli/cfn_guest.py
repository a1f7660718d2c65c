"""Plays a server's operating system with heat-cfntools, as published.

Its programs use fixed places (`/etc/cfn`, `/var/lib`, `/var/cache`, `/var/log`) and the fixed port 8000. Each command
runs in namespaces of its own, where these places are the guest's, and where nothing but Stoker can be reached. A guest
knows the user data of its server, and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.cli import forwarding

PORT = 8000
"""Where heat-cfntools expects the CloudFormation API, whatever its configuration."""

_MOUNTS = """
set -eu
replace() {  # the directory $1: all that the host has there, as links, and instead of it what the guest has
    mkdir -p "$GUEST/host$1"
    mount --bind "$1" "$GUEST/host$1"
    mount -t tmpfs none "$1"
    for entry in "$GUEST$1"/* "$GUEST/host$1"/*; do
        [ -e "$1/${entry##*/}" ] || ln -s "$entry" "$1/"
    done
}
replace /etc
replace /var/lib
for place in /var/log /var/cache; do mount --bind "$GUEST$place" "$place"; done
exec "$@"
"""

_HANDLE_PARTS = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("part_handler", sys.argv[1])
handler = importlib.util.module_from_spec(spec)
spec.loader.exec_module(handler)
(kind,) = handler.list_types()
handler.handle_part(None, "__begin__", None, None)
for name, content in json.load(sys.stdin).items():
    handler.handle_part(None, kind, name, content)
handler.handle_part(None, "__end__", None, None)
"""
"""What cloud-init does with a part handler."""

_NAMESPACES = ["unshare", "--mount", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]


def namespace_problem() -> str | None:
    """Why commands cannot have namespaces of their own here; None if they can."""
    try:
        done = subprocess.run([*_NAMESPACES, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True)
    except FileNotFoundError:
        return "unshare (of util-linux) is not installed"
    return (done.stderr.strip() or "unshare fails") if done.returncode else None


class CfnGuest:
    """`programs` is the directory of heat-cfntools' programs, `root` that of the guest's files."""

    def __init__(self, root: Path, programs: Path, query_api: str) -> None:
        self.root, self._programs, self._api = root, programs, urlsplit(query_api)
        self._socket = root / "api"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the guest reach the CloudFormation API."""
        for name in ("etc/cfn", "var/lib/heat-cfntools", "var/lib/cloud", "var/log", "var/cache", "boot"):
            (self.root / name).mkdir(parents=True)
        with forwarding.forwarding(str(self._socket), (str(self._api.hostname), int(self._api.port or 80))):
            yield

    def boot(self, parts: Mapping[str, bytes]) -> None:
        """Do what cloud-init does with user data at the first boot."""
        scripts = {name: self.root / "boot" / name for name in ("part-handler.py", "loguserdata.py")}
        for name, path in scripts.items():
            path.write_bytes(parts[name])
        kept = {name: content.decode() for name, content in parts.items() if name.startswith("cfn-")}
        self.run("python3", "-c", _HANDLE_PARTS, scripts["part-handler.py"], text=json.dumps(kept))
        self.run("sh", scripts["loguserdata.py"])

    def run(self, *command: str | Path, text: str | None = None, ok: bool = True) -> str:
        """Run a program of the guest, which must succeed or fail as `ok` says; answers its output."""
        variables = {
            "PATH": f"{self._programs}:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.root),
            "LC_ALL": "C",
            "GUEST": str(self.root),
        }
        forward: list[str | Path] = [sys.executable, forwarding.__file__, self._socket, f"{PORT},{self._api.port}"]
        done = subprocess.run(
            [*_NAMESPACES, "sh", "-c", _MOUNTS, "guest", *forward, *command],
            env=variables,
            cwd=self.root,
            input=text,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert (done.returncode == 0) == ok, f"{command}: {done.returncode} {done.stdout}{done.stderr}{self.log()}"
        return done.stdout + done.stderr

    def log(self) -> str:
        """All logs of the guest."""
        return "\n".join(f"{path.name}: {path.read_text()}" for path in sorted((self.root / "var/log").glob("*")))
