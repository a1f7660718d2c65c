"""What the identity service must contain for a cluster: as `heat.conf` names it, created where it is missing.

These are roles, the service user, the domain of the users that stacks create with its administrator, the services in
the catalog, and their endpoints. https://docs.openstack.org/api-ref/identity/v3/ describes the requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keystoneauth1.adapter import Adapter
from oslo_config import cfg

from stoker.base.errors import Invalid
from stoker.processes.settings import cloud_settings

STACK_OWNER_ROLE = "heat_stack_owner"
"""The role that users of orchestration have in clouds that were set up as Heat's installation guide says."""

ADMIN_ROLE, SERVICE_ROLE = "admin", "service"

PRESENT, CREATED, CHANGED = "present", "created", "changed"
WOULD = {CREATED: "to be created", CHANGED: "to be changed"}

_NOT_YET = "(new)"
"""Stands for the ID of an object that a dry run does not create."""

_NAMES = {"orchestration": "heat", "cloudformation": "heat-cfn"}
_DESCRIPTIONS = {"orchestration": "Orchestration", "cloudformation": "CloudFormation Query API"}

Row = dict[str, str]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class IdentityContents:
    """The contents of the identity service.

    `urls` are the endpoints: type of the service → interface → URL. The other fields are named like the options.
    """

    service_user: str
    service_password: str
    service_domain: str
    service_project: str
    project_domain: str
    stack_user_role: str
    stack_domain: str
    stack_domain_admin: str
    stack_domain_admin_password: str
    regions: Sequence[str]
    urls: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(
        cls, config: cfg.ConfigOpts, regions: Sequence[str], urls: Mapping[str, Mapping[str, str]]
    ) -> IdentityContents:
        """Return what the configuration requires. Raises Invalid with the options that are missing."""
        settings = cloud_settings(config)
        required = {
            "[keystone_authtoken] username": settings.username,
            "[keystone_authtoken] password": settings.password,
            "[keystone_authtoken] project_name": settings.project_name,
            "[DEFAULT] stack_user_domain_name": settings.stack_user_domain_name,
            "[DEFAULT] stack_domain_admin": settings.stack_domain_admin,
            "[DEFAULT] stack_domain_admin_password": settings.stack_domain_admin_password,
        }
        missing = [option for option, value in required.items() if not value]
        if missing:
            raise Invalid(
                f"The configuration does not say what to create. Set {', '.join(missing)}; choose the passwords."
            )
        user, password, project, domain, admin, admin_password = (str(value) for value in required.values())
        return cls(
            service_user=user,
            service_password=password,
            service_domain=settings.user_domain_id or settings.user_domain_name or "Default",
            service_project=project,
            project_domain=settings.project_domain_id or settings.project_domain_name or "Default",
            stack_user_role=settings.heat_stack_user_role,
            stack_domain=domain,
            stack_domain_admin=admin,
            stack_domain_admin_password=admin_password,
            regions=regions,
            urls=urls,
        )


class IdentitySetup:
    """Creates what is missing, through `identity`, an adapter for the identity service with an administrator's login.

    With `dry`, nothing is created, and the rows say what would be. Objects that are there are kept, with their
    passwords and further roles; only the URLs of endpoints are changed.
    """

    def __init__(self, identity: Adapter, *, dry: bool) -> None:
        self._identity = identity
        self._write: Callable[..., Body] = self._planned if dry else self._call
        self._shown = WOULD if dry else {}

    def run(self, contents: IdentityContents) -> Iterator[Row]:
        """Yield a row for each object: what it is, and the outcome. Raises Invalid if the service refuses a request."""
        roles = {}
        for name in (ADMIN_ROLE, SERVICE_ROLE, STACK_OWNER_ROLE, contents.stack_user_role):
            roles[name], row = self._ensure("role", {"name": name})
            yield row
        yield from self._service_user(contents, roles)
        yield from self._stack_domain(contents, roles)
        for region in contents.regions:
            yield self._region(region)
        for kind, urls in contents.urls.items():
            yield from self._service(kind, urls, contents.regions)

    def _service_user(self, contents: IdentityContents, roles: Mapping[str, str]) -> Iterator[Row]:
        user_domain = self._domain(contents.service_domain)
        project_domain = self._domain(contents.project_domain)
        project, row = self._ensure("project", {"name": contents.service_project, "domain_id": project_domain})
        yield row
        user, row = self._ensure(
            "user",
            {"name": contents.service_user, "domain_id": user_domain},
            {"password": contents.service_password, "default_project_id": project},
        )
        yield row
        for name in (ADMIN_ROLE, SERVICE_ROLE):
            what = f"role {name} of {contents.service_user} in the project {contents.service_project}"
            yield self._grant(f"/projects/{project}/users/{user}/roles/{roles[name]}", what)

    def _stack_domain(self, contents: IdentityContents, roles: Mapping[str, str]) -> Iterator[Row]:
        domain, row = self._ensure(
            "domain", {"name": contents.stack_domain}, {"description": "Users and projects that stacks create"}
        )
        yield row
        admin, row = self._ensure(
            "user",
            {"name": contents.stack_domain_admin, "domain_id": domain},
            {"password": contents.stack_domain_admin_password},
        )
        yield row
        what = f"role {ADMIN_ROLE} of {contents.stack_domain_admin} in the domain {contents.stack_domain}"
        yield self._grant(f"/domains/{domain}/users/{admin}/roles/{roles[ADMIN_ROLE]}", what)

    def _service(self, kind: str, urls: Mapping[str, str], regions: Sequence[str]) -> Iterator[Row]:
        service, row = self._ensure(
            "service", {"type": kind}, {"name": _NAMES[kind], "description": _DESCRIPTIONS[kind]}
        )
        yield row
        for region in regions:
            for interface, url in urls.items():
                yield self._endpoint(kind, {"service_id": service, "region_id": region, "interface": interface}, url)

    def _endpoint(self, kind: str, place: Mapping[str, str], url: str) -> Row:
        what = f"{place['interface']} endpoint of {kind} in {place['region_id']}"
        found = self._found("endpoint", place)
        if found is None:
            self._write("POST", "/endpoints", {"endpoint": {**place, "url": url}})
            return self._row(what, CREATED)
        if found["url"] == url:
            return self._row(what, PRESENT)
        self._write("PATCH", f"/endpoints/{found['id']}", {"endpoint": {"url": url}})
        return self._row(what, CHANGED)

    def _region(self, name: str) -> Row:
        there = name in {region["id"] for region in self._call("GET", "/regions")["regions"]}
        if not there:
            self._write("POST", "/regions", {"region": {"id": name}})
        return self._row(f"region {name}", PRESENT if there else CREATED)

    def _domain(self, name_or_id: str) -> str:
        """Return the ID of a domain that must exist. Raises Invalid."""
        for domain in self._call("GET", "/domains")["domains"]:
            if name_or_id in (domain["id"], domain["name"]):
                return str(domain["id"])
        raise Invalid(f"The identity service has no domain {name_or_id} (user_domain_name, project_domain_name).")

    def _ensure(self, kind: str, key: Mapping[str, str], more: Mapping[str, str] | None = None) -> tuple[str, Row]:
        """Return the ID of the object with the values of `key`; create it with those of `more` too if there is none."""
        what = f"{kind} {key.get('name') or key['type']}"
        found = self._found(kind, key)
        if found is not None:
            return found["id"], self._row(what, PRESENT)
        created = self._write("POST", f"/{kind}s", {kind: {**key, **(more or {})}})
        return created[kind]["id"], self._row(what, CREATED)

    def _grant(self, path: str, what: str) -> Row:
        if _NOT_YET not in path and self._identity.head(path, raise_exc=False).status_code == 204:
            return self._row(what, PRESENT)
        self._write("PUT", path)
        return self._row(what, CREATED)

    def _found(self, kind: str, key: Mapping[str, str]) -> Body | None:
        if _NOT_YET in key.values():
            return None
        listed = self._call("GET", f"/{kind}s", params=key)[f"{kind}s"]
        return next((item for item in listed if all(item.get(name) == value for name, value in key.items())), None)

    def _call(self, method: str, path: str, body: Body | None = None, params: Mapping[str, str] | None = None) -> Body:
        response = self._identity.request(path, method, json=body, params=params, raise_exc=False, log=False)
        if response.status_code >= 400:
            raise Invalid(f"The identity service refused {method} {path}: {_message(response)}")
        answer: Body = response.json() if response.content else {}
        return answer

    @staticmethod
    def _planned(_method: str, path: str, body: Body | None = None) -> Body:
        return {kind: {"id": _NOT_YET} for kind in body or {path: None}}

    def _row(self, what: str, outcome: str) -> Row:
        return {"object": what, "outcome": self._shown.get(outcome, outcome)}


def _message(response: Any) -> str:
    try:
        return f"{response.status_code}, {response.json()['error']['message']}"
    except (ValueError, KeyError, TypeError):
        return f"{response.status_code} {response.reason}"
