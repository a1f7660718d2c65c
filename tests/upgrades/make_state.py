"""Keep the state of a release for the tests of upgrades: `python -m tests.upgrades.make_state 0.1.0`.

Starts PostgreSQL and MariaDB on private ports, runs `state_maker` with the release's own sources, taken from its
commit, and writes what there is then to `states/RELEASE` as SQL.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from testing.servers import DatabaseServer, MariaDB, PostgreSQL
from tests.upgrades import releases

MAKER = "tests.upgrades.state_maker"


def main(release: str) -> None:
    target = releases.STATES / release
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        releases.extract(release, directory / "release")
        state = directory / "state"
        state.mkdir()
        servers: list[DatabaseServer] = [PostgreSQL(), MariaDB()]
        try:
            for server in servers:
                server.prepare()
                server.start()
            urls = [server.new_database("stoker") for server in servers]
            done = releases.run(directory / "release", "-m", MAKER, str(state), *urls)
            if done.returncode:
                sys.exit(done.stderr)
            for kind, server in zip(("postgresql", "mariadb"), servers, strict=True):
                server.dump("stoker", target / f"{kind}.sql")
        finally:
            for server in servers:
                server.remove()
        for name in ("stoker", "cloud"):
            database = sqlite3.connect(state / "frozen" / f"{name}.db")
            if name == "cloud":  # what is in images matters to nobody here
                database.execute("UPDATE blob SET data = zeroblob(64)")
            version = database.execute("PRAGMA user_version").fetchone()[0]
            lines = [*database.iterdump(), f"PRAGMA user_version = {version};"]
            (target / f"{'sqlite' if name == 'stoker' else name}.sql").write_text("\n".join(lines) + "\n")
            database.close()
        (target / "about.json").write_bytes((state / "about.json").read_bytes())
    subprocess.run(["ls", "-l", str(target)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
