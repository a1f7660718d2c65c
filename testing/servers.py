"""Real servers for tests (PostgreSQL, MariaDB, RabbitMQ, HAProxy), on private ports, with data in private directories.

What is not installed is installed with apt-get. Servers refuse to run as root, so root starts them as the user that
their packages made; anybody else starts them as himself.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TypeVar

import psycopg
import pymysql
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from psycopg import sql

from stoker.processes.control import free_ports

HOST = "127.0.0.1"
_START_SECONDS = 60.0
_POLL_SECONDS = 0.1


class ServerMissing(Exception):
    """A server is not installed and cannot be installed; the message says why."""


def free_port() -> int:
    """A port that no outgoing connection takes until a server listens there."""
    (port,) = free_ports(1)
    return port


def wait_until(condition: Callable[[], object], what: str, seconds: float = _START_SECONDS) -> None:
    """Poll `condition` until it holds; an OSError counts as no."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError):
            if condition():
                return
        if time.monotonic() > end:
            raise AssertionError(f"{what} within {seconds:g} seconds: it never came to be")
        time.sleep(_POLL_SECONDS)


@functools.cache
def _apt_get(*packages: str) -> str | None:
    """Install packages; what went wrong, None when they are there."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", "-qq"], install):
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1]
    return None


def program(package: str, *patterns: str) -> Path:
    """The newest file that matches one of the patterns, its package installed if need be. Raises ServerMissing."""

    def found() -> Path | None:
        paths = [path for pattern in patterns for path in Path("/").glob(pattern.lstrip("/"))]
        return max(paths, key=lambda path: [int(part) for part in path.parts if part.isdigit()], default=None)

    path = found()
    if path is None:
        problem = _apt_get(package)
        path = found()
        if path is None:
            raise ServerMissing(f"{package} is not installed, and apt-get cannot install it: {problem}")
    return path


def _open_to_all() -> Path:
    """The directory for temporary files, or that of the system if other users cannot reach what is in it."""
    directory = Path(tempfile.gettempdir()).resolve()
    private = any(not path.stat().st_mode & stat.S_IXOTH for path in (directory, *directory.parents))
    return Path("/tmp") if private and os.geteuid() == 0 else directory


@dataclass(frozen=True)
class Certificate:
    """Files in PEM form: an authority's own certificate, and what it has signed for the loopback address."""

    authority: Path
    certificate: Path
    key: Path


def make_certificate(directory: Path) -> Certificate:
    """A certificate of an authority that nobody else knows; readable by every user."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority, name = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)]) for text in (f"Authority of {directory.name}", HOST)
    )
    root = _unsigned(authority, authority, authority_key).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    leaf = _unsigned(authority, name, key).add_extension(
        x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False
    )
    texts = {
        "authority.pem": root.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM),
        "certificate.pem": leaf.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM),
        "key.pem": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    }
    for file, text in texts.items():
        (directory / file).write_bytes(text)
        (directory / file).chmod(0o644)
    return Certificate(*(directory / file for file in texts))


def _unsigned(issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
    )


class Server:
    """One server process. Subclasses say how its data are made and how it is run."""

    package: str
    user: str
    directory = Path("/nonexistent")
    tls = Certificate(directory, directory, directory)

    def __init__(self) -> None:
        self.port = free_port()
        self.command()  # installs the package, which makes the user
        self.directory = Path(tempfile.mkdtemp(prefix=f"stoker-{self.package}-", dir=_open_to_all()))
        if os.geteuid() == 0:
            account = pwd.getpwnam(self.user)
            os.chown(self.directory, account.pw_uid, account.pw_gid)
        self.tls = make_certificate(self.directory)
        self._log = (self.directory / "server.log").open("ab")
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Make the data, before the first start."""

    def command(self) -> list[str]:
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        return {}

    def answers(self) -> bool:
        """Whether the server takes requests."""
        raise NotImplementedError

    def run(self, *command: str | Path) -> None:
        """Run a command as the server's user, to its end."""
        subprocess.run(
            self._as_user([str(word) for word in command]),
            env=self._surroundings(),
            cwd=self.directory,
            check=True,
            stdout=self._log,
            stderr=self._log,
        )

    def _surroundings(self) -> Mapping[str, str]:
        # The server's user may not write where temporary files of this process are.
        return {**os.environ, "TMPDIR": str(self.directory), **self.environment()}

    def _as_user(self, command: list[str]) -> list[str]:
        # setpriv runs the command in its own place, so that signals reach the server and not a shell around it.
        if os.geteuid() != 0:
            return command
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", *command]

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._process = subprocess.Popen(
            self._as_user(self.command()),
            env=self._surroundings(),
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

        def ready() -> bool:
            assert self._process is not None
            if self._process.poll() is not None:
                raise AssertionError(f"{self.package} ended: {self._log_end()}")
            return self.answers()

        wait_until(ready, f"{self.package} answers")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the server and everything that it started."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def remove(self) -> None:
        self.stop()
        self._log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _log_end(self) -> str:
        return (self.directory / "server.log").read_text(errors="replace")[-2000:]


S = TypeVar("S", bound=Server)


@contextlib.contextmanager
def running(kind: Callable[[], S]) -> Iterator[S]:
    """A new server that runs until the end of the block. Raises ServerMissing."""
    server = kind()
    try:
        server.prepare()
        server.start()
        yield server
    finally:
        server.remove()


class DatabaseServer(Server):
    """A server with any number of databases."""

    def new_database(self, name: str) -> str:
        """Create a database, and return its URL for SQLAlchemy."""
        raise NotImplementedError

    def copy(self, name: str, original: str) -> str:
        """Create a database with the content of another one, which nobody uses or changes; return its URL."""
        raise NotImplementedError

    @property
    def tls_options(self) -> str:
        """The end of a URL with which TLS is required and the server's certificate is checked."""
        raise NotImplementedError

    def dump(self, name: str, path: Path) -> None:
        """Write the content of a database as SQL."""
        raise NotImplementedError

    def load(self, name: str, path: Path) -> None:
        """Execute the SQL of a file that `dump` has written."""
        raise NotImplementedError


class PostgreSQL(DatabaseServer):
    package, user = "postgresql", "postgres"

    def prepare(self) -> None:
        options = ("--auth=trust", "--encoding=UTF8", "--no-sync", "--username=stoker")
        self.run(self._tool("initdb"), *options, f"--pgdata={self.directory / 'data'}")
        self.run("install", "-m", "600", self.tls.key, self._own_key)

    def command(self) -> list[str]:
        settings = {
            "fsync": "off",
            "autovacuum": "off",  # statistics, and so plans, do not depend on how long a test takes
            "listen_addresses": HOST,
            "unix_socket_directories": str(self.directory),
            "ssl": "on",
            "ssl_cert_file": str(self.tls.certificate),
            "ssl_key_file": str(self._own_key),
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [str(self._tool("postgres")), "-D", str(self.directory / "data"), "-p", str(self.port), *options]

    def answers(self) -> bool:
        check = [str(self._tool("pg_isready")), "-q", "-h", HOST, "-p", str(self.port)]
        return subprocess.run(check).returncode == 0

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """As `Server.stop`; SIGINT does not wait for clients to leave."""
        super().stop(number)

    def new_database(self, name: str) -> str:
        return self.copy(name, "template1")

    def copy(self, name: str, original: str) -> str:
        with psycopg.connect(
            host=HOST, port=self.port, user="stoker", dbname="postgres", autocommit=True
        ) as connection:
            named = (sql.Identifier(each) for each in (name, original))
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*named))
        return f"postgresql+psycopg://stoker@{HOST}:{self.port}/{name}"

    @property
    def tls_options(self) -> str:
        return f"?sslmode=verify-full&sslrootcert={self.tls.authority}"

    def dump(self, name: str, path: Path) -> None:
        with path.open("wb") as output:
            dump = [str(self._tool("pg_dump")), "-h", HOST, "-p", str(self.port), "-U", "stoker", name]
            subprocess.run(dump, stdout=output, check=True)

    def load(self, name: str, path: Path) -> None:
        with path.open("rb") as source:
            load = [str(self._tool("psql")), "-q", "-v", "ON_ERROR_STOP=1", "-h", HOST, "-p", str(self.port)]
            subprocess.run([*load, "-U", "stoker", name], stdin=source, stdout=subprocess.DEVNULL, check=True)

    @property
    def _own_key(self) -> Path:
        """The server refuses a key that others can read."""
        return self.directory / "own-key.pem"

    def _tool(self, name: str) -> Path:
        return program(self.package, f"/usr/lib/postgresql/*/bin/{name}", f"/usr/local/pgsql/bin/{name}")


class MariaDB(DatabaseServer):
    package, user = "mariadb-server", "mysql"

    def prepare(self) -> None:
        self.run(
            program(self.package, "/usr/bin/mariadb-install-db"),
            "--no-defaults",
            f"--datadir={self.directory / 'data'}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        )

    def command(self) -> list[str]:
        return [
            str(program(self.package, "/usr/sbin/mariadbd")),
            "--no-defaults",
            f"--datadir={self.directory / 'data'}",
            f"--socket={self.directory / 'socket'}",
            f"--pid-file={self.directory / 'pid'}",
            f"--bind-address={HOST}",
            f"--port={self.port}",
            f"--ssl-ca={self.tls.authority}",
            f"--ssl-cert={self.tls.certificate}",
            f"--ssl-key={self.tls.key}",
            "--innodb-flush-log-at-trx-commit=0",
        ]

    def answers(self) -> bool:
        try:
            self._connect().close()
        except pymysql.err.OperationalError:
            return False
        return True

    def new_database(self, name: str) -> str:
        connection = self._connect()
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
        connection.close()
        return f"mysql+pymysql://root@{HOST}:{self.port}/{name}"

    @property
    def tls_options(self) -> str:
        return f"?ssl_ca={self.tls.authority}"

    def copy(self, name: str, original: str) -> str:
        content = self.directory / f"{original}.sql"
        if not content.exists():
            self.dump(original, content)
        url = self.new_database(name)
        self.load(name, content)
        return url

    def dump(self, name: str, path: Path) -> None:
        with path.open("wb") as output:
            subprocess.run([*self._client("mariadb-dump"), "--skip-dump-date", name], stdout=output, check=True)

    def load(self, name: str, path: Path) -> None:
        with path.open("rb") as source:
            subprocess.run([*self._client("mariadb"), name], stdin=source, check=True)

    def _client(self, name: str) -> list[str]:
        client = str(program("mariadb-client", f"/usr/bin/{name}"))
        return [client, "--no-defaults", "--host", HOST, "--port", str(self.port), "--user", "root"]

    def _connect(self) -> pymysql.Connection:
        return pymysql.connect(host=HOST, port=self.port, user="root")


class RabbitMQ(Server):
    package, user = "rabbitmq-server", "rabbitmq"

    def __init__(self) -> None:
        super().__init__()
        self._distribution_port, self._epmd_port, self._tls_port = free_port(), free_port(), free_port()

    def prepare(self) -> None:
        settings = {
            "listeners.ssl.local": f"{HOST}:{self._tls_port}",
            "ssl_options.cacertfile": self.tls.authority,
            "ssl_options.certfile": self.tls.certificate,
            "ssl_options.keyfile": self.tls.key,
        }
        lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
        (self.directory / "rabbitmq.conf").write_text(lines)

    def command(self) -> list[str]:
        return [str(program(self.package, "/usr/lib/rabbitmq/bin/rabbitmq-server"))]

    def environment(self) -> Mapping[str, str]:
        base = str(self.directory)
        return {
            "HOME": base,
            "RABBITMQ_HOME": str(program(self.package, "/usr/lib/rabbitmq/bin").parent),
            "RABBITMQ_NODENAME": f"stoker{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": HOST,
            "RABBITMQ_MNESIA_BASE": f"{base}/mnesia",
            "RABBITMQ_LOG_BASE": f"{base}/log",
            "RABBITMQ_GENERATED_CONFIG_DIR": f"{base}/config",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{base}/enabled_plugins",
            "RABBITMQ_CONFIG_FILE": f"{base}/rabbitmq",
            "RABBITMQ_PID_FILE": f"{base}/pid",
            "RABBITMQ_CONF_ENV_FILE": f"{base}/rabbitmq-env.conf",
            # A laptop's share of the disk is enough for tests.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-rabbit disk_free_limit 1000000",
        }

    def control(self, arguments: list[str]) -> list[str]:
        """A command of rabbitmqctl to this broker, for `run`."""
        return [str(program(self.package, "/usr/lib/rabbitmq/bin/rabbitmqctl")), *arguments]

    def remove(self) -> None:
        super().remove()
        epmd = program(self.package, "/usr/bin/epmd")  # the name server of Erlang, which the broker leaves behind
        subprocess.run([str(epmd), "-port", str(self._epmd_port), "-kill"], stdout=subprocess.DEVNULL)

    def answers(self) -> bool:
        with socket.create_connection((HOST, self.port), timeout=2) as connection:
            connection.settimeout(2)
            connection.sendall(b"AMQP\x00\x00\x09\x01")
            return len(connection.recv(8)) == 8

    @property
    def url(self) -> str:
        return f"rabbit://guest:guest@{HOST}:{self.port}/"

    @property
    def tls_url(self) -> str:
        """Where it speaks TLS, and nothing else."""
        return f"rabbit://guest:guest@{HOST}:{self._tls_port}/"


class HAProxy(Server):
    """HAProxy with a configuration whose addresses have been replaced by those of the test.

    `replaced` are strings of the configuration with their replacements; `{pem}` in one is the path of the server's
    certificate with its key.
    """

    package, user = "haproxy", "haproxy"

    def __init__(self, configuration: Path, replaced: Mapping[str, str], port: int) -> None:
        super().__init__()
        self.port = port
        self._configuration = configuration
        self._replaced = replaced

    def prepare(self) -> None:
        pem, configuration = self.directory / "heat.pem", self._configuration.read_text()
        pem.write_bytes(self.tls.certificate.read_bytes() + self.tls.key.read_bytes())
        for name, value in self._replaced.items():
            assert name in configuration, name
            configuration = configuration.replace(name, value.format(pem=pem))
        (self.directory / "haproxy.cfg").write_text(configuration)
        self.run(str(program(self.package, "/usr/sbin/haproxy")), "-c", "-f", self.directory / "haproxy.cfg")

    def command(self) -> list[str]:
        return [
            str(program(self.package, "/usr/sbin/haproxy")), "-db", "-f", str(self.directory / "haproxy.cfg"),
        ]  # fmt: skip

    def answers(self) -> bool:
        with socket.create_connection((HOST, self.port), timeout=2):
            return True
