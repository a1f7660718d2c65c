"""What an object of the kind Stack asks for, with everything that it refers to."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Protocol

import yaml

from stoker.base.redaction import Redactor, strings_of
from stoker.cli.client.connection import service_of
from stoker.cli.client.stack_client import StackClient
from stoker.cloud.clouds_yaml import named_cloud
from stoker_kubernetes.definition import Approval, DeletionPolicy

_LOGINS = frozenset({"password", "v3password", "v3applicationcredential", "token", "v3token"})
"""Ways to log in that read no files of the operator."""
_CLOUDS = "clouds.yaml"
TEMPLATE, ENVIRONMENT = "template.yaml", "environment.yaml"
"""The names of the files with the template and the environment, in error messages."""
_LARGEST = 4 * 1024 * 1024
"""Characters of all files together; an object of Kubernetes has at most a third of that."""


class SpecificationInvalid(Exception):
    """The object, or one that it refers to, cannot be used as it is; the message says why."""


class Cluster(Protocol):
    """Reads objects of a namespace. Raises SpecificationInvalid for one that does not exist or must not be read."""

    def secret(self, name: str) -> Mapping[str, str]:
        """Return the data of a Secret, in base64."""

    def config_map(self, name: str) -> Mapping[str, str]:
        """Return the data of a ConfigMap."""


@dataclass(frozen=True)
class DesiredStack:
    """A stack as it should be. `secrets` are strings that nobody may see, `files` strings by relative paths."""

    name: str
    template: str
    files: Mapping[str, str]
    environment: Mapping[str, Any]
    parameters: Mapping[str, Any]
    tags: tuple[str, ...]
    rollback: bool
    timeout: int | None
    approval: Approval
    allow_data_loss: bool
    adopt: bool
    secrets: frozenset[str] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """What identifies this definition."""
        parts = [self.name, self.template, self.files, self.environment, self.parameters, self.tags, self.rollback]
        text = json.dumps([*parts, self.timeout], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def redactor(self) -> Redactor:
        """Redacts the values of Secrets."""
        return Redactor(self.secrets)


def desired_stack(name: str, spec: Mapping[str, Any], cluster: Cluster) -> DesiredStack:
    """Return what an object with this name and specification asks for. Raises SpecificationInvalid."""
    hidden: dict[str, str] = {}
    for each in spec.get("parametersFrom", ()):
        hidden |= {key: _decoded(key, value) for key, value in cluster.secret(each["name"]).items()}
    files = dict(spec.get("files", {}))
    for each in spec.get("filesFrom", ()):
        files |= cluster.config_map(each["name"])
    template = spec["template"] if "template" in spec else _entry(cluster, spec["templateFrom"])
    if len(template) + sum(map(len, files.values())) > _LARGEST:
        raise SpecificationInvalid(f"The template and its files have more than {_LARGEST} characters.")
    for file in files:
        _check_path(file)
    return DesiredStack(
        name=stack_name(name, spec),
        template=template,
        files=files,
        environment=spec.get("environment", {}),
        parameters={**spec.get("parameters", {}), **hidden},
        tags=tuple(spec.get("tags", ())),
        rollback=spec.get("rollback", False),
        timeout=spec.get("timeoutMinutes"),
        approval=Approval(spec.get("approval", Approval.AUTOMATIC)),
        allow_data_loss=spec.get("allowDataLoss", False),
        adopt=spec.get("adopt", False),
        secrets=frozenset(strings_of(hidden)),
    )


def stack_name(name: str, spec: Mapping[str, Any]) -> str:
    """Return the name of the stack of an object."""
    return str(spec.get("stackName", name))


def deletion_policy(spec: Mapping[str, Any]) -> DeletionPolicy:
    """Return what happens to the stack when its object is deleted."""
    return DeletionPolicy(spec.get("deletionPolicy", DeletionPolicy.DELETE))


def service_for(spec: Mapping[str, Any], cluster: Cluster) -> StackClient:
    """Return the orchestration service of the cloud that an object names. Raises SpecificationInvalid.

    What the namespace writes into clouds.yaml cannot make the operator read its own files.
    """
    secret, name = spec["cloud"]["secretName"], spec["cloud"]["name"]
    data = cluster.secret(secret)
    if _CLOUDS not in data:
        raise SpecificationInvalid(f"The Secret {secret} has no key {_CLOUDS}.")
    try:
        clouds = (yaml.safe_load(_decoded(_CLOUDS, data[_CLOUDS])) or {}).get("clouds")
    except (yaml.YAMLError, AttributeError, RecursionError):
        raise SpecificationInvalid(f"The key {_CLOUDS} of the Secret {secret} is not valid YAML.") from None
    entry = clouds.get(name) if isinstance(clouds, dict) else None
    if not isinstance(entry, dict):
        raise SpecificationInvalid(f"The key {_CLOUDS} of the Secret {secret} has no cloud {name!r}.")
    cloud = named_cloud(name, entry)
    if cloud.auth_type not in _LOGINS:
        raise SpecificationInvalid(
            f"The cloud {name} has the auth_type {cloud.auth_type}; known are {_listed(_LOGINS)}."
        )
    if cloud.ca_file is not None:
        raise SpecificationInvalid(
            f"The cloud {name} has a cacert, which would be a file of the operator: add the certificate to its image."
        )
    return service_of(cloud)


def _entry(cluster: Cluster, reference: Mapping[str, str]) -> str:
    data = cluster.config_map(reference["name"])
    if reference["key"] not in data:
        raise SpecificationInvalid(f"The ConfigMap {reference['name']} has no key {reference['key']}.")
    return data[reference["key"]]


def _decoded(key: str, value: str) -> str:
    try:
        return b64decode(value).decode()
    except ValueError:
        raise SpecificationInvalid(f"The key {key} of a Secret is not text.") from None


def _check_path(name: str) -> None:
    path = PurePosixPath(name)
    if name in (TEMPLATE, ENVIRONMENT):
        raise SpecificationInvalid(f"No file can have the name {name}, which is that of the object's own.")
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise SpecificationInvalid(f"The file {name!r} must have a relative path without `..`.")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
