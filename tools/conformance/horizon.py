"""Walk over the pages for stacks of a real Horizon, with its heat-dashboard, that works on an embedded Stoker.

    python -m tools.conformance.horizon [--stay]

Both are installed into `.venv-conformance/horizon`, where the dashboard is set up as for production; everything else
happens in a temporary directory. The exit status is 0 when every page shows what it should.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml

from tools.conformance.installed import HERE, installed
from tools.conformance.pages import Visitor
from tools.conformance.place import Place, embedded
from tools.conformance.report import show, show_passed
from tools.conformance.tour import Tour

_FILES = HERE / "horizon"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.conformance.horizon", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--stay", action="store_true", help="serve the pages for a browser, and walk over none")
    stay = parser.parse_args().stay
    programs = installed("horizon")
    with tempfile.TemporaryDirectory(prefix="stoker-conformance-") as directory:
        home = Path(directory).resolve()
        with embedded(home) as place, served(programs, place, home) as site:
            account = yaml.safe_load(place.clouds.read_text())["clouds"]["stoker"]["auth"]
            if stay:
                return _serve_until_interrupted(site, account["username"], account["password"])
            tour = Tour(Visitor(site), account["username"], account["password"], _FILES)
            results = list(tour.results())
    show_passed(results)
    return show(results)


@contextmanager
def served(programs: Path, place: Place, home: Path) -> Iterator[str]:
    """The URL of a Horizon for a cloud; it is stopped in the end, and its log is in `home`."""
    static = programs.parent / "static"
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "DJANGO_SETTINGS_MODULE": "openstack_dashboard.settings",
        "HORIZON_KEYSTONE_URL": place.identity,
        "HORIZON_SECRET_KEY": secrets.token_hex(32),
        "HORIZON_STATIC_ROOT": str(static),
    }
    _set_up(programs, static, environment)
    command = [str(programs / "python"), str(_FILES / "serve.py")]
    with (home / "horizon.log").open("w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=home, env=environment)
        try:
            assert server.stdout is not None
            site = server.stdout.readline().strip()
            if not site:
                raise RuntimeError(f"Horizon did not start: {(home / 'horizon.log').read_text()}")
            yield site
        finally:
            server.terminate()
            server.wait()


def _set_up(programs: Path, static: Path, environment: dict[str, str]) -> None:
    """Give Horizon its settings and heat-dashboard's panels, and collect the static files when there are none."""
    [packages] = (programs.parent / "lib").glob("python3*/site-packages")
    local = packages / "openstack_dashboard" / "local"
    shutil.copy(_FILES / "local_settings.py", local)
    for panel in (packages / "heat_dashboard" / "enabled").glob("_[0-9]*.py"):
        shutil.copy(panel, local / "enabled")
    if not (static / "dashboard" / "manifest.json").exists():
        print("Collecting Horizon's static files …", file=sys.stderr)
        for command in (["collectstatic", "--noinput"], ["compress", "--force"]):
            run = [str(programs / "python"), "-m", "django", *command]
            subprocess.run(run, check=True, env=environment, capture_output=True)


def _serve_until_interrupted(site: str, user: str, password: str) -> int:
    print(f"{site}  user {user}, password {password}. Stop with Ctrl-C.", file=sys.stderr)
    with suppress(KeyboardInterrupt):
        signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
