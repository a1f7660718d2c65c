"""Checks of what the configuration names, before the processes of a cluster are started or upgraded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import yaml
from keystoneauth1 import exceptions, session
from keystoneauth1.access import AccessInfoV3
from keystoneauth1.identity import v3
from oslo_config import cfg
from oslo_policy import opts as policy_options

from stoker.base.errors import StokerError
from stoker.cloud.settings import CloudSettings
from stoker.processes import maintenance
from stoker.processes.settings import cloud_settings, encryption_keys
from stoker.store import key_proofs
from stoker.store.sealing import Sealer

_SECONDS = 30


class Level(Enum):
    """How a check ended."""

    GOOD = "success"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of a check; `details` says what is wrong and what to do."""

    level: Level
    details: str = ""


GOOD = Finding(Level.GOOD)

Check = Callable[[cfg.ConfigOpts], Finding]


def policy_file(config: cfg.ConfigOpts) -> Finding:
    """Check that the policy file, if there is one, is a YAML mapping: oslo.policy no longer reads JSON by default."""
    policy_options.set_defaults(config, policy_file="policy.yaml", enforce_new_defaults=True)
    path = config.find_file(config.oslo_policy.policy_file)
    if path is None:
        return GOOD
    text = Path(path).read_text(encoding="utf-8")
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        return Finding(Level.FAILURE, f"{path} is in JSON. Convert it with oslopolicy-convert-json-to-yaml.")
    try:
        rules = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return Finding(Level.FAILURE, f"{path} is not in YAML: {error}")
    return GOOD if rules is None or isinstance(rules, dict) else Finding(Level.FAILURE, f"{path} is not a mapping.")


def tables(config: cfg.ConfigOpts) -> Finding:
    """Check that this release can use the tables, and has the keys that their data is encrypted with."""
    try:
        sealer = Sealer(encryption_keys(config))
        maintenance.on_database(config, lambda opened: opened.read_now(key_proofs.require_keys, sealer))
    except (StokerError, cfg.Error) as error:
        return Finding(Level.FAILURE, str(error))
    return GOOD


def service_user(config: cfg.ConfigOpts) -> Finding:
    """Check that the service user can log in."""
    found = _service_login(cloud_settings(config))
    return found if isinstance(found, Finding) else GOOD


def catalog(config: cfg.ConfigOpts) -> Finding:
    """Check that the catalog has both interfaces in the region."""
    settings = cloud_settings(config)
    found = _service_login(settings)
    if isinstance(found, Finding):
        return found
    region = settings.region_name_for_services
    missing = [
        kind
        for kind in ("orchestration", "cloudformation")
        if not found.service_catalog.get_urls(service_type=kind, region_name=region)
    ]
    if not missing:
        return GOOD
    where = f" in the region {region}" if region else ""
    level = Level.FAILURE if "orchestration" in missing else Level.WARNING
    return Finding(level, f"The catalog has no {' and no '.join(missing)}{where}. `stoker keystone-setup` adds it.")


def stack_domain(config: cfg.ConfigOpts) -> Finding:
    """Check that the administrator of the stack domain can log in there."""
    settings = cloud_settings(config)
    domain, domain_id = settings.stack_user_domain_name, settings.stack_user_domain_id
    if not (domain or domain_id) or not settings.stack_domain_admin or settings.stack_domain_admin_password is None:
        return Finding(
            Level.WARNING,
            "No stack domain is configured (stack_user_domain_name, stack_domain_admin, stack_domain_admin_password): "
            "stacks with wait conditions, signals or software deployments fail.",
        )
    found = _login(
        settings,
        "stack_domain_admin",
        username=settings.stack_domain_admin,
        password=settings.stack_domain_admin_password,
        domain_id=domain_id,
        user_domain_id=domain_id,
        domain_name=None if domain_id else domain,
        user_domain_name=None if domain_id else domain,
    )
    if isinstance(found, Finding):
        return found
    if "admin" in (found.role_names or ()):
        return GOOD
    return Finding(Level.FAILURE, f"{settings.stack_domain_admin} does not have the role admin in the stack domain.")


CHECKS: Mapping[str, Check] = {
    "Policy File JSON to YAML Migration": policy_file,
    "Database and Encryption Key": tables,
    "Service User": service_user,
    "Catalog": catalog,
    "Stack Domain": stack_domain,
}
"""The checks, by the names under which they are shown."""


def _service_login(settings: CloudSettings) -> AccessInfoV3 | Finding:
    if not settings.username or settings.password is None:
        return Finding(Level.FAILURE, "No service user is configured ([keystone_authtoken] username, password).")
    return _login(
        settings,
        "[keystone_authtoken] username",
        username=settings.username,
        password=settings.password,
        user_domain_id=settings.user_domain_id,
        user_domain_name=None if settings.user_domain_id else settings.user_domain_name,
        project_name=settings.project_name,
        project_domain_id=settings.project_domain_id,
        project_domain_name=None if settings.project_domain_id else settings.project_domain_name,
    )


def _login(settings: CloudSettings, option: str, **credential: Any) -> AccessInfoV3 | Finding:
    if not settings.auth_url:
        return Finding(Level.FAILURE, "No identity service is configured ([keystone_authtoken] auth_url).")
    tls = settings.client("keystone").tls
    root = settings.auth_url.rstrip("/").removesuffix("/v3")
    opened = session.Session(verify=False if tls.insecure else tls.ca_file or True, timeout=_SECONDS)
    try:
        found: AccessInfoV3 = v3.Password(f"{root}/v3", **credential).get_auth_ref(opened)
    except exceptions.Unauthorized:
        return Finding(
            Level.FAILURE,
            f"{credential['username']} ({option}) cannot log in at {settings.auth_url}: the user, the password or the "
            "role in the project or domain is wrong. `stoker keystone-setup` creates what is missing.",
        )
    except exceptions.ClientException as error:
        return Finding(Level.FAILURE, f"The identity service at {settings.auth_url} cannot be used: {error}")
    return found
