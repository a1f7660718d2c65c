"""Read from a cloud what an emulated one is to have, so that tests and rehearsals resemble it. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from keystoneauth1.adapter import Adapter
from keystoneauth1.identity.base import BaseIdentityPlugin

from stoker.base.errors import Invalid
from stoker.cloud.clouds_yaml import NamedCloud
from stoker.cloud.named_login import session_of

_MOST_OBJECTS = 10_000
"""Objects of a kind that are read: more would make each test slow."""
_SECONDS = 60.0
_QUOTAS: Mapping[str, tuple[str, ...]] = {
    "compute": ("instances", "cores", "ram", "key_pairs", "server_groups", "server_group_members"),
    "network": ("network", "subnet", "port", "router", "floatingip", "security_group", "security_group_rule"),
    "volume": ("volumes", "gigabytes", "snapshots", "backups", "backup_gigabytes"),
}
_USAGE: Mapping[str, tuple[str, str, str]] = {
    "compute": ("/os-quota-sets/{}/detail", "quota_set", "/os-quota-sets/{}"),
    "network": ("/v2.0/quotas/{}/details", "quota", "/v2.0/quotas/{}"),
    "volume": ("/os-quota-sets/{}?usage=true", "quota_set", "/os-quota-sets/{}"),
}
"""Where quotas are with what is in use of them, their wrapper, and where they are without it, for users who may not
see that."""
_EXTRA_SPECS = {"OpenStack-API-Version": "compute 2.61"}
"""Since this version, a list of flavors has their extra specs."""
_DEFAULT_TYPE = "__DEFAULT__"
"""The volume type that every cloud has, the emulated one as well."""
_IMAGE = ("min_disk", "min_ram", "disk_format", "container_format")
_IMAGE_PREFIXES = ("hw_", "os_")
"""Of the properties of images on which servers depend."""
_IMAGE_OF_GLANCE = ("os_hash_algo", "os_hash_value", "os_hidden")
"""Properties with such a prefix that Glance itself sets."""
_FLOATING = "203.0.113.0/24"
"""Addresses of an external network whose subnets the project may not see; it needs some for floating IPs."""


def read_existing(cloud: NamedCloud) -> dict[str, object]:
    """Return what a project of a cloud can use, as the section `cloud` of test files.

    Raises Invalid for a cloud that does not answer as OpenStack does, and what keystoneauth raises for one that cannot
    be reached or refuses the login.
    """
    return _Reader(cloud).read()


class _Reader:
    def __init__(self, cloud: NamedCloud) -> None:
        self._cloud = cloud
        self._session = session_of(cloud)

    def read(self) -> dict[str, Any]:
        login = self._session.auth
        if not isinstance(login, BaseIdentityPlugin):
            raise Invalid(f"A login by {self._cloud.auth_type} has no catalog.")
        catalog = login.get_access(self._session).service_catalog.normalize_catalog()
        types = sorted({entry["type"] for entry in catalog})
        found: dict[str, object] = {"only": True, "services": types}
        compute, network = self._service("compute"), self._service("network")
        project = self._session.get_project_id()
        found["flavors"] = dict(self._flavors(compute))
        found["images"] = dict(self._images())
        found["networks"] = dict(self._networks(network))
        keypairs = _listed(compute, "/os-keypairs", "keypairs")
        found["keypairs"] = sorted(keypair["keypair"]["name"] for keypair in keypairs)
        found["extensions"] = sorted(
            extension["alias"] for extension in _listed(network, "/v2.0/extensions", "extensions")
        )
        services = {"compute": compute, "network": network}
        volume = next((service_type for service_type in ("block-storage", "volumev3") if service_type in types), None)
        if volume is not None:
            services["volume"] = self._service(volume)
            found["volume_types"] = dict(_volume_types(services["volume"]))
        quotas = {name: _quotas(service, name, project) for name, service in services.items()}
        found["quotas"] = {name: limits for name, (limits, _) in quotas.items() if limits}
        found["used"] = {name: used for name, (_, used) in quotas.items() if used}
        return found

    def _service(self, kind: str) -> Adapter:
        return Adapter(
            self._session,
            service_type=kind,
            interface=(self._cloud.interface or "public").removesuffix("URL"),
            region_name=self._cloud.region_name,
            raise_exc=False,
        )

    def _flavors(self, compute: Adapter) -> Iterator[tuple[str, Any]]:
        for row in _listed(compute, "/flavors/detail", "flavors", _EXTRA_SPECS):
            specs = row.get("extra_specs")
            flavor = {"ram": row["ram"], "vcpus": row["vcpus"], "disk": row["disk"]}
            yield row.get("name") or row["original_name"], {**flavor, **({"extra_specs": specs} if specs else {})}

    def _images(self) -> Iterator[tuple[str, object]]:
        for image in _listed(self._service("image"), "/v2/images", "images"):
            if image.get("name") and image.get("status") == "active":
                own = {name: image[name] for name in _IMAGE if image.get(name)}
                names = [name for name in image if name.startswith(_IMAGE_PREFIXES) and name not in _IMAGE_OF_GLANCE]
                yield image["name"], {**own, **{name: image[name] for name in names}}

    def _networks(self, network: Adapter) -> Iterator[tuple[str, object]]:
        cidrs = {subnet["network_id"]: subnet["cidr"] for subnet in _listed(network, "/v2.0/subnets", "subnets")}
        for row in _listed(network, "/v2.0/networks", "networks"):
            external = bool(row.get("router:external"))
            cidr = cidrs.get(row["id"], _FLOATING if external else None)
            if row["name"]:
                yield row["name"], {**({"external": True} if external else {}), **({"cidr": cidr} if cidr else {})}


def _volume_types(volume: Adapter) -> Iterator[tuple[str, Any]]:
    for volume_type in _listed(volume, "/types", "volume_types"):
        specs = volume_type.get("extra_specs")
        if specs or volume_type["name"] != _DEFAULT_TYPE:
            yield volume_type["name"], ({"extra_specs": specs} if specs else {})


def _answer(
    service: Adapter, path: str, params: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, Any]:
    """Return the status and the JSON data of an answer; None for the data of a refusal, and for no JSON object."""
    sent = {"Accept": "application/json", **(headers or {})}
    answer = service.get(path, params=dict(params or {}), timeout=_SECONDS, headers=sent)
    try:
        data = answer.json()
    except ValueError:
        data = None
    return answer.status_code, data if answer.status_code == 200 and isinstance(data, dict) else None


def _got(
    service: Adapter, path: str, params: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
) -> Any:
    """Return the JSON data of an answer. Raises Invalid for a refusal, and for anything else than a JSON object."""
    status, data = _answer(service, path, params, headers)
    if data is None:
        raise Invalid(f"The service {service.service_type} of the cloud answers GET {path} with {status}.")
    return data


def _listed(service: Adapter, path: str, key: str, headers: Mapping[str, str] | None = None) -> Iterator[Any]:
    """Yield all objects of a collection, page by page. Raises Invalid, also for more than there may be."""
    params: Mapping[str, str] | None = None
    count = 0
    while True:
        page = _got(service, path, params, headers)
        objects = page.get(key, [])
        yield from objects
        count += len(objects)
        if count > _MOST_OBJECTS:
            raise Invalid(f"The cloud has more than {_MOST_OBJECTS} {key}.")
        links = page.get(f"{key}_links") or []
        following = page.get("next") or next((link["href"] for link in links if link.get("rel") == "next"), None)
        if not following or not objects:
            return
        params = dict(parse_qsl(urlsplit(following).query))


def _quotas(service: Adapter, name: str, project: str | None) -> tuple[dict[str, int], dict[str, int]]:
    """Return the quotas of the project that are limited, and how much of them is in use, as far as the user may see it.

    Raises Invalid if the service shows no quotas.
    """
    detailed, key, plain = _USAGE[name]
    _, data = _answer(service, detailed.format(project))
    if data is None:
        data = _got(service, plain.format(project))
    quotas = {limit_name: _quota(data.get(key, {}).get(limit_name)) for limit_name in _QUOTAS[name]}
    limits = {limit_name: limit for limit_name, (limit, _) in quotas.items() if limit >= 0}
    return limits, {limit_name: used for limit_name, (limit, used) in quotas.items() if limit >= 0 and used > 0}


def _quota(value: object) -> tuple[int, int]:
    """Return a limit, -1 for none, and how much of it is in use or reserved."""
    if isinstance(value, int):
        return value, 0
    if not isinstance(value, Mapping):
        return -1, 0
    used = value.get("in_use", value.get("used", 0))
    return int(value.get("limit", -1)), int(used) + int(value.get("reserved", 0))
