"""The data directory of an embedded Stoker: its files, and its lock."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stoker.base.errors import Conflict, Invalid

NO_GUESTS = ("none",)
WELL_KNOWN_PASSWORD = "secret"  # noqa: S105  the documented password of a throw-away cloud, as DevStack's
CLOUD_USERS = ("admin", "demo", "heat", "heat_domain_admin")
"""The users that every emulated cloud has."""
_KEY_CHARACTERS = 32
_KILLED = "engine.killed"
_LOCAL_PASSWORD = b"password of clients at the local identity service"
_OWN_FILES = (
    "stoker.db*", "cloud.db*", "engine.l*", "engine.pid", "cloud.log", "cloud.pid",
    "engine.killed", "endpoints.json", "secrets.json", "passwords.json", "openrc*", "awsrc", "clouds.yaml",
    "mark.json", "older.json",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SetUp:
    """The content of `endpoints.json`: addresses, and the cloud of the stacks.

    `cloud` is the name of an entry in the user's `clouds.yaml`, None for the emulated cloud. `pids` are the processes
    that were last started, by program; `control.running` returns which of them run. `services` are the services of the
    emulated cloud besides identity; empty for all. `dns_port` is the port of its name server, 0 for a free one at each
    start. `guests` are the values of `--guests`, which select the drivers of the guests in its servers; `guest_image`
    is their image. `permitted` are the values of `--allow-requests-to`. `passwords` are those of the emulated cloud's
    users, by name, once it has had guests, which are not to know them; others have the well-known one. `pace` is the
    factor for the duration of its state changes.
    """

    rest: str
    cfn: str
    identity: str
    cloud: str | None = None
    config_files: tuple[str, ...] = ()
    pids: Mapping[str, int] = field(default_factory=dict)
    services: tuple[str, ...] = ()
    dns_port: int = 0
    guests: tuple[str, ...] = NO_GUESTS
    guest_image: str = "debian"
    permitted: tuple[str, ...] = ()
    passwords: Mapping[str, str] = field(default_factory=dict)
    pace: float = 1.0

    def password_of(self, user: str) -> str:
        """Return the password of a user of the emulated cloud."""
        return self.passwords.get(user, WELL_KNOWN_PASSWORD)

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "rest": self.rest,
            "cfn": self.cfn,
            "identity": self.identity,
            "cloud": self.cloud,
            "config_files": list(self.config_files),
            "pids": dict(self.pids),
            "services": list(self.services),
            "dns_port": self.dns_port,
            "guests": list(self.guests),
            "guest_image": self.guest_image,
            "permitted": list(self.permitted),
            "passwords": dict(self.passwords),
            "pace": self.pace,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> SetUp:
        """Return the set-up that `to_data` described."""
        return cls(
            rest=data["rest"],
            cfn=data["cfn"],
            identity=data["identity"],
            cloud=data["cloud"],
            config_files=tuple(data["config_files"]),
            pids=data["pids"],
            services=tuple(data.get("services", ())),
            dns_port=data.get("dns_port", 0),
            guests=_listed(data.get("guests", NO_GUESTS)),
            guest_image=data.get("guest_image", "debian"),
            permitted=tuple(data.get("permitted", ())),
            passwords=data.get("passwords", {}),
            pace=data.get("pace", 1.0),
        )


def random_passwords() -> dict[str, str]:
    """Return new passwords for the users of an emulated cloud."""
    return {user: secrets.token_urlsafe(_KEY_CHARACTERS)[:_KEY_CHARACTERS] for user in CLOUD_USERS}


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    """Return the items of a list, which was a single string when it could have one item only."""
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The directory that contains all files of one embedded Stoker."""

    path: Path

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL of the engine's database."""
        return f"sqlite:///{self.path / 'stoker.db'}"

    @property
    def cloud_state(self) -> Path:
        """The file with the emulated cloud's state."""
        return self.path / "cloud.db"

    @property
    def cloud_passwords(self) -> Path:
        """The file with the passwords of the emulated cloud's users, where they are not well known."""
        return self.path / "passwords.json"

    def log_file(self, program: str) -> Path:
        """The file with the program's standard output and error."""
        return self.path / f"{program}.log"

    def pid_file(self, program: str) -> Path:
        """The file that the program locks as long as it runs."""
        return self.path / f"{program}.pid"

    def make(self) -> None:
        """Create the directory, and restrict the files that are already in it to their owner.

        SQLite's files, logs and records contain secrets. The programs that create further files restrict them with
        their umask (`PRIVATE_UMASK`), so the mode of an existing directory does not matter. Raises Invalid when this
        fails.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in (path for pattern in _OWN_FILES for path in self.path.glob(pattern)):
                if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o077:
                    path.chmod(0o600)
        except OSError as error:
            raise Invalid(f"The data directory {self.path} cannot be created: {error.strerror}.") from None
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise Invalid(f"The data directory {self.path} cannot be written to.")

    def encryption_key(self) -> str:
        """Return the key that encrypts secrets in the database; it is created by the first call."""
        path = self.path / "secrets.json"
        if not path.exists():
            key = secrets.token_urlsafe(_KEY_CHARACTERS)[:_KEY_CHARACTERS]
            write_private(path, json.dumps({"auth_encryption_key": key}) + "\n")
        try:
            return str(_read_json(path)["auth_encryption_key"])
        except (KeyError, TypeError):
            raise Invalid(
                f"{path} does not contain auth_encryption_key, which decrypts the secrets in stoker.db. Restore the "
                "file from a backup, or start with an empty data directory."
            ) from None

    def local_password(self) -> str:
        """Return the password of clients at the identity service of an embedded Stoker on a real cloud."""
        return hmac.new(self.encryption_key().encode(), _LOCAL_PASSWORD, hashlib.sha256).hexdigest()

    def set_up(self) -> SetUp | None:
        """Return the recorded set-up; None in a new directory. Raises Invalid when the record is damaged."""
        path = self.path / "endpoints.json"
        if not path.exists():
            return None
        try:
            return SetUp.from_data(_read_json(path))
        except (KeyError, TypeError) as error:
            raise Invalid(f"{path} is not a record of an embedded Stoker: {error} is missing. Delete it.") from None

    def record(self, set_up: SetUp) -> None:
        """Record `set_up` for later commands."""
        if set_up.passwords:
            write_private(self.cloud_passwords, json.dumps(dict(set_up.passwords), indent=2) + "\n")
        write_private(self.path / "endpoints.json", json.dumps(set_up.to_data(), indent=2) + "\n")

    def note_killed(self, process: int) -> None:
        """Note that a process was killed because it did not respond, so that its end is not taken for a crash."""
        with open(self.path / _KILLED, "a", opener=private) as file:
            file.write(f"{process}\n")

    def killed(self) -> list[int]:
        """Return the processes that were killed on purpose since `forget_killed`."""
        path = self.path / _KILLED
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def forget_killed(self) -> None:
        """Forget the processes that `note_killed` has noted."""
        (self.path / _KILLED).unlink(missing_ok=True)

    @contextmanager
    def engine_lock(self) -> Iterator[None]:
        """Lock the directory against a second engine. Raises Conflict when another engine runs on it.

        An embedded engine takes over unfinished operations at once, which requires that it is the only one.
        """
        with open(self.path / "engine.lock", "a", opener=private) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Conflict(
                    f"Another engine runs on the data directory {self.path}. Stop it with `stoker down`, or choose "
                    "another directory with --data-dir."
                ) from None
            yield


def default_directory() -> DataDirectory:
    """Return `$XDG_DATA_HOME/stoker`, by default `~/.local/share/stoker`."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return DataDirectory(Path(base) / "stoker")


PRIVATE_UMASK = 0o077
"""The umask of programs that keep secrets in a data directory. They set it where they start, or their starter does."""


def private(path: str, flags: int) -> int:
    """Open a file that, if it is created, only its owner can read; for `open(opener=...)`."""
    return os.open(path, flags, 0o600)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read; it is replaced atomically.

    The draft has a name that others cannot know: in a directory that they can write, they could put a link there.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except BaseException:
        draft.unlink()
        raise


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid(f"{path} cannot be read: {error}.") from None
