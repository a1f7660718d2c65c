"""A cloud under comparison, reached over HTTP through its catalog, with accounts of its own."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection, RemoteDisconnected
from typing import Any
from urllib.parse import urlsplit

Roles = Mapping[str, Sequence[str]]
PROJECTS = {"member": "one", "reader": "one", "stranger": "one", "other": "two", "admin": "one"}
"""Account → its project. `stranger` has no role that a service knows."""
ROLES: Roles = {"member": ["member"], "reader": ["reader"], "other": ["member"], "admin": ["admin"], "stranger": []}
LETTERS = "ghjkmnpqrstvwxyz"
"""Letters that no hexadecimal number has, so that the name of a comparison is not found in IDs."""
STRANGER = "differential_stranger"
"""The role of `stranger`: a token for a project needs one."""
TOKEN_SECONDS = 1800.0
"""Age after which a token is replaced, before the cloud lets it expire."""


class MissingPrerequisite(Exception):
    """The cloud refuses what a comparison needs beforehand."""


@dataclass(frozen=True)
class Answer:
    """The response to a request; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        """The body: JSON data, or a string; None without content."""
        if not self.content:
            return None
        if "json" in self.headers.get("content-type", ""):
            return json.loads(self.content)
        return self.content.decode("utf-8", "replace")


@dataclass
class Site:
    """A cloud, its administrator, and how time passes in it.

    identity: URL of the identity service, ending in `/v3`.
    wait: lets this number of the cloud's seconds pass.
    """

    identity: str
    user: str
    password: str
    wait: Callable[[float], None]
    run: str = field(default_factory=lambda: "".join(secrets.choice(LETTERS) for _ in range(8)))
    """Part of the names of everything that is made, so that two comparisons do not meet."""
    elapsed: float = 0.0
    accounts: dict[str, str] = field(default_factory=dict)
    """Account → ID of its user."""
    projects: dict[str, str] = field(default_factory=dict)
    """`one`, `two` → ID of the project."""
    _tokens: dict[str, tuple[float, str]] = field(default_factory=dict)
    _password: str = field(default_factory=lambda: secrets.token_hex(16))
    _made_roles: list[str] = field(default_factory=list)
    _operators_project: str = ""

    def pause(self, seconds: float) -> None:
        """Let the cloud's time pass."""
        self.elapsed += seconds
        self.wait(seconds)

    @cached_property
    def catalog(self) -> dict[str, str]:
        """Type → public URL of each service, for the project `one` where a URL depends on it."""
        listed = self.ask("GET", f"{self.identity}/auth/catalog", "admin")["catalog"]
        return {
            entry["type"]: endpoint["url"]
            for entry in listed
            for endpoint in entry["endpoints"]
            if endpoint["interface"] == "public"
        }

    def url(self, service: str, account: str) -> str:
        """Return the public URL of a service for the project of an account."""
        if service == "identity":
            return self.identity.removesuffix("/v3")
        project = self.projects[PROJECTS.get(account, "one")]
        if account == "operator":
            self.token(account)
            project = self._operators_project
        return self.catalog[service].replace(self.projects["one"], project)

    def send(self, method: str, url: str, account: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Send a request; the account `nobody` has no token. Raises MissingPrerequisite where there is no answer."""
        sent = {"Accept": "application/json", **headers}
        if account != "nobody":
            sent.setdefault("X-Auth-Token", self.token(account))
        parts = urlsplit(url)
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=120)
        try:
            connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), body, sent)
            try:
                response = connection.getresponse()
            except RemoteDisconnected:
                raise MissingPrerequisite(f"{method} {url} {body!r}: the service has closed the connection") from None
            names = dict.fromkeys(name.lower() for name in response.headers)
            values = {name: ", ".join(response.headers.get_all(name, [])) for name in names}
            return Answer(response.status, values, response.read())
        finally:
            connection.close()

    def ask(self, method: str, url: str, account: str, body: Any = None) -> Any:
        """Return the body of the answer. Raises MissingPrerequisite for a refusal."""
        content = None if body is None else json.dumps(body).encode()
        answer = self.send(method, url, account, {"Content-Type": "application/json"} if content else {}, content)
        if answer.status >= 400:
            raise MissingPrerequisite(f"{method} {url}: {answer.status} {answer.content[:300]!r}")
        return answer.body

    # -- accounts -----------------------------------------------------------------------------------------------------

    def token(self, account: str) -> str:
        """Return a token of an account in its project; `operator` is the administrator that the cloud came with."""
        made, token = self._tokens.get(account, (-TOKEN_SECONDS, ""))
        if self.elapsed - made >= TOKEN_SECONDS:
            token = self._logged_in(account)
            self._tokens[account] = self.elapsed, token
        return token

    def _logged_in(self, account: str) -> str:
        default = {"id": "default"}
        if account == "operator":
            user: dict[str, Any] = {"name": self.user, "domain": default, "password": self.password}
            project: dict[str, Any] = {"name": "admin", "domain": default}
        else:
            user = {"id": self.accounts[account], "password": self._password}
            project = {"id": self.projects[PROJECTS[account]]}
        auth = {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": {"project": project}}
        content = json.dumps({"auth": auth}).encode()
        answer = self.send(
            "POST", f"{self.identity}/auth/tokens", "nobody", {"Content-Type": "application/json"}, content
        )
        if answer.status != 201:
            raise MissingPrerequisite(f"{account} cannot log in: {answer.status}")
        if account == "operator":
            self._operators_project = answer.body["token"]["project"]["id"]
        return answer.headers["x-subject-token"]

    def prepare(self, roles: Roles) -> None:
        """Create the projects and accounts, with further roles for accounts."""
        for name in ("one", "two"):
            made = self._make("project", f"differential-{self.run}-{name}", {"domain_id": "default"})
            self.projects[name] = made
        for account, first in ROLES.items():
            fields = {"domain_id": "default", "password": self._password}
            user = self._make("user", f"differential-{self.run}-{account}", fields)
            self.accounts[account] = user
            for role in [*first, *roles.get(account, ())] or [STRANGER]:
                path = f"projects/{self.projects[PROJECTS[account]]}/users/{user}/roles/{self._role(role)}"
                self.ask("PUT", f"{self.identity}/{path}", "operator")

    def clean(self) -> None:
        """Delete the accounts and projects."""
        paths = [f"users/{user}" for user in self.accounts.values()]
        paths += [f"projects/{project}" for project in self.projects.values()]
        paths += [f"roles/{role}" for role in self._made_roles]
        for path in paths:
            self.ask("DELETE", f"{self.identity}/{path}", "operator")

    def _make(self, kind: str, name: str, fields: Mapping[str, Any]) -> str:
        made = self.ask("POST", f"{self.identity}/{kind}s", "operator", {kind: {"name": name, **fields}})
        return str(made[kind]["id"])

    def _role(self, name: str) -> str:
        name = f"differential-{self.run}" if name == STRANGER else name
        found = self.ask("GET", f"{self.identity}/roles?name={name}", "operator")["roles"]
        if not found:
            self._made_roles.append(self._make("role", name, {}))
        return str(found[0]["id"]) if found else self._made_roles[-1]

    @cached_property
    def roots(self) -> dict[str, str]:
        """URL of each service without version and project → the service's type."""
        urls = {"identity": self.identity, **self.catalog}
        return {re.sub(r"/(v\d[\d.]*\b.*)?$", "", url): kind for kind, url in sorted(urls.items(), reverse=True)}
