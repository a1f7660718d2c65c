"""The objects of the cluster that the operator reads and writes besides Stacks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lightkube import ApiError, Client
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.core_v1 import ConfigMap, Secret
from lightkube.types import PatchType

from stoker_kubernetes.definition import GROUP, KIND, VERSION
from stoker_kubernetes.desired import SpecificationInvalid

_MANAGER = "stoker-kubernetes"


class NamespaceObjects:
    """Secrets and ConfigMaps of a namespace."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace

    def secret(self, name: str) -> Mapping[str, str]:
        """Return the data of a Secret, in base64. Raises SpecificationInvalid if it cannot be read."""
        return self._read(Secret, name).data or {}

    def config_map(self, name: str) -> Mapping[str, str]:
        """Return the data of a ConfigMap. Raises SpecificationInvalid if it cannot be read."""
        return self._read(ConfigMap, name).data or {}

    def _read(self, kind: Any, name: str) -> Any:
        try:
            return self._client.get(kind, name, namespace=self._namespace)
        except ApiError as error:
            raise SpecificationInvalid(
                f"The {kind.__name__} {name} cannot be read: {error.status.message or error}"
            ) from None

    def write_outputs(self, name: str, outputs: Mapping[str, Any], owner: Mapping[str, Any]) -> None:
        """Write outputs into a Secret, which is deleted with the object `owner`. Raises SpecificationInvalid.

        Values that are not strings are JSON.
        """
        reference = OwnerReference(f"{GROUP}/{VERSION}", KIND, owner["name"], owner["uid"], controller=True)
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in outputs.items()}
        secret = Secret(metadata=ObjectMeta(name=name, ownerReferences=[reference]), stringData=texts, type="Opaque")
        try:
            self._client.patch(
                Secret, name, secret, namespace=self._namespace, patch_type=PatchType.APPLY, field_manager=_MANAGER
            )
        except ApiError as error:
            message = f"The outputs cannot be written to the Secret {name}: {error.status.message or error}"
            raise SpecificationInvalid(message) from None
