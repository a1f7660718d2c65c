"""The agents of software deployments in images of guests: their files, besides the packages of the distribution.

heat-agents is published on PyPI only, as a source distribution: no wheel contains its hooks.
"""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from openstack_emulator.core.guests.driver import GuestsUnavailable
from stoker_foundation.interpreter import python_command, python_environment

RELEASE = "heat-agents==13.0.0 --hash=sha256:346099c6e9f16bd5e68913b825013acdd97b6743a1764ebcfc08d6528cefa9d6"
HOOKS = ("ansible", "apply-config", "cfn-init", "hiera", "json-file", "puppet", "script")
"""The tools for which the image has a hook; the others need programs that Debian does not have."""
FOLDERS = {
    "heat-config/os-apply-config/": "usr/libexec/os-apply-config/templates/",
    "heat-config/os-refresh-config/": "usr/libexec/os-refresh-config/",
    "heat-config/bin/": "usr/bin/",
} | {f"heat-config-{name}/install.d/hook-{name}.py": f"var/lib/heat-config/hooks/{name}" for name in HOOKS}
"""What begins a path in the source distribution, below its first directory → what replaces it in the image."""
DEFAULTS = """\
# Read before /etc/os-collect-config.conf, which the agents write from the metadata of the server.
[DEFAULT]
command = os-refresh-config --timeout 14400
polling_interval = 5

[ec2]
timeout = 5
"""
SERVICE = """\
#!/bin/sh
# Collects the metadata of the server, and applies its software deployments. The log contains the agent's password.
umask 077
exec >>/var/log/os-collect-config.log 2>&1
[ -e /etc/os-collect-config.conf ] || : >/etc/os-collect-config.conf
exec os-collect-config --config-file /usr/share/stoker/os-collect-config.conf --config-file /etc/os-collect-config.conf
"""
WRITTEN = {
    "usr/share/stoker/os-collect-config.conf": (0o644, DEFAULTS),
    "usr/share/stoker/services/os-collect-config": (0o755, SERVICE),
}
"""The files of Stoker's own: path → mode and content. The guest's first process runs the services."""
DOWNLOAD_SECONDS = 300


class DownloadFailed(Exception):
    """heat-agents cannot be downloaded; the message says why."""


def pack(target: Path, time: int) -> None:
    """Write a tar file of the agents' files, to be unpacked into the root directory of an image.

    time: of the files, in seconds since 1970. Raises: GuestsUnavailable without pip, DownloadFailed.
    """
    with tempfile.TemporaryDirectory(dir=target.parent) as place, tarfile.open(target, "w") as archive:
        for path, mode, content in (*_own_files(), *_published_files(_download(Path(place)))):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.mtime = len(content), mode, time
            archive.addfile(entry, io.BytesIO(content))


def _own_files() -> Iterator[tuple[str, int, bytes]]:
    for path, (mode, text) in WRITTEN.items():
        yield path, mode, text.encode()


def _published_files(source: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield path, mode and content of the files that are used of the source distribution."""
    with tarfile.open(source) as archive:
        for entry in archive:
            _, _, below = entry.name.partition("/")
            start = next((start for start in FOLDERS if below.startswith(start)), None)
            file = archive.extractfile(entry)
            if start is None or file is None:
                continue
            program = entry.mode & 0o111 or start.endswith(".py")
            yield FOLDERS[start] + below.removeprefix(start), 0o755 if program else 0o644, file.read()


def _download(directory: Path) -> Path:
    """Download the source distribution with pip, which compares its hash and uses the user's settings for PyPI."""
    requirements = directory / "requirements.txt"
    requirements.write_text(f"{RELEASE}\n")
    command = [*_pip(), "download", "--quiet", "--no-deps", "--no-binary=:all:", "--disable-pip-version-check"]
    command += ["--require-hashes", f"--requirement={requirements}", f"--dest={directory}"]
    try:
        done = subprocess.run(  # noqa: S603  pip with constant arguments
            command,
            cwd=directory,
            env=python_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DownloadFailed(f"heat-agents was not downloaded from PyPI within {DOWNLOAD_SECONDS} seconds.") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise DownloadFailed("\n".join(["heat-agents cannot be downloaded from PyPI. pip says:", *lines[-5:]]))
    [archive] = directory.glob("*.tar.gz")
    return archive


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return python_command("-m", "pip")
    for name in ("pip3", "pip"):
        if (path := shutil.which(name)) is not None:
            return [path]
    raise GuestsUnavailable(
        "pip, which downloads heat-agents, is not installed; on Debian and Ubuntu, `apt-get install python3-pip` "
        "installs it. `--with none` builds an image without agents."
    )
