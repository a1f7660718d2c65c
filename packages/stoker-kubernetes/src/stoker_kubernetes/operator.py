"""The operator: at each tick it looks at an object of the kind Stack, and does the next step if one is due."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import kopf
from lightkube import Client
from lightkube.resources.core_v1 import Namespace

from stoker.base.errors import Invalid, StokerError
from stoker_kubernetes.cluster import NamespaceObjects
from stoker_kubernetes.definition import APPROVED, GROUP, PLURAL, VERSION, DeletionPolicy
from stoker_kubernetes.desired import SpecificationInvalid, deletion_policy, desired_stack, service_for, stack_name
from stoker_kubernetes.reconciling import Reconciliation, remove, tag_of
from stoker_kubernetes.status import Reason, StackCondition, conditions, reason_in

_LONGEST_PAUSE = 3600.0
"""Most seconds until a failed step is repeated."""
_MOST_DOUBLINGS = 10
_SOON = frozenset({None, Reason.PROGRESSING})
_WORKERS = 20
_SYSTEM_NAMESPACE = "kube-system"
"""The namespace that each cluster has: its UID identifies the cluster."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two looks at an object, and until a failed step is repeated, twice as many each time.

    A look costs nothing while no step is due.
    """

    tick: float
    retry: float


@dataclass(frozen=True, slots=True)
class ObservedStack:
    """An object of the kind Stack, as the API server shows it."""

    metadata: Mapping[str, Any]
    spec: Mapping[str, Any]
    status: Mapping[str, Any]

    @property
    def approved(self) -> str | None:
        """The digest of the plan that is approved."""
        found: str | None = self.metadata.get("annotations", {}).get(APPROVED)
        return found

    @property
    def last(self) -> Reason | None:
        """The reason of the condition Ready."""
        return reason_in(self.status)

    def is_due(self, now: datetime, retry: float) -> bool:
        """Return whether a step is due: after a change, during an operation, after a pause, or at the interval.

        `retry` is the first pause after a failure, in seconds.
        """
        if self.status.get("observedGeneration") != self.metadata["generation"] or self.last in _SOON:
            return True
        if self.last is Reason.APPROVAL_REQUIRED and self.approved == self.status.get("plan", {}).get("digest"):
            return True
        looked = datetime.fromisoformat(self.status["lastCheckedTime"])
        return now >= looked + timedelta(seconds=self._pause(retry))

    def _pause(self, retry: float) -> float:
        usual: float = self.spec.get("intervalSeconds", 600)
        if self.last is Reason.DEPLOYED:
            return usual
        doublings = min(max(int(self.status.get("failures", 0)) - 1, 0), _MOST_DOUBLINGS)
        return min(retry * (1 << doublings), _LONGEST_PAUSE)


class Operator:
    """Reconciles objects of the kind Stack; `client` reads what these refer to, `folder` is for their files.

    `cluster` is what no other cluster has, `retry` are the seconds until a failed step is first repeated.
    """

    def __init__(self, client: Client, folder: Path, cluster: str, retry: float) -> None:
        self._client = client
        self._folder = folder
        self._cluster = cluster
        self._retry = retry

    def tick(self, seen: ObservedStack, now: datetime) -> dict[str, Any] | None:
        """Do the next step of an object; return its new status, None if no step is due."""
        if seen.spec.get("suspend"):
            if seen.last is Reason.SUSPENDED and seen.status.get("observedGeneration") == seen.metadata["generation"]:
                return None
            return new_status(
                seen, StackCondition(Reason.SUSPENDED, "Nothing is done while `suspend` is set.", {}), now
            )
        if not seen.is_due(now, self._retry):
            return None
        return new_status(seen, self._step(seen), now)

    def _step(self, seen: ObservedStack) -> StackCondition:
        objects = NamespaceObjects(self._client, seen.metadata["namespace"])
        try:
            desired = desired_stack(seen.metadata["name"], seen.spec, objects)
            service = service_for(seen.spec, objects)
            folder, tag = self._folder / seen.metadata["uid"], self._tag_of(seen)
            found = Reconciliation(service, desired, tag, seen.approved, seen.status, seen.last, folder).step()
            if found.reason is Reason.DEPLOYED and "outputsTo" in seen.spec:
                objects.write_outputs(seen.spec["outputsTo"]["name"], found.outputs, seen.metadata)
        except (SpecificationInvalid, StokerError) as error:
            return StackCondition(Reason.INVALID, str(error), {})
        return found

    def _tag_of(self, seen: ObservedStack) -> str:
        return tag_of(self._cluster, seen.metadata["namespace"], seen.metadata["name"])

    def removal(self, seen: ObservedStack, now: datetime) -> dict[str, Any] | None:
        """Do the next step of the removal of a deleted object's stack; return its new status, None at the end."""
        if deletion_policy(seen.spec) is DeletionPolicy.RETAIN or "stackID" not in seen.status:
            return None
        objects = NamespaceObjects(self._client, seen.metadata["namespace"])
        try:
            service = service_for(seen.spec, objects)
        except (SpecificationInvalid, StokerError) as error:
            return new_status(seen, StackCondition(Reason.INVALID, str(error), {}), now)
        name = stack_name(seen.metadata["name"], seen.spec)
        standing = remove(service, name, self._tag_of(seen), seen.spec.get("allowDataLoss", False), seen.last)
        return None if standing is None else new_status(seen, standing, now)


def new_status(seen: ObservedStack, standing: StackCondition, now: datetime) -> dict[str, Any]:
    """Return the fields of the status to set after a step."""
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    generation = seen.metadata["generation"]
    shown = conditions(seen.status.get("conditions", ()), standing, generation, at)
    return {"observedGeneration": generation, "lastCheckedTime": at, "conditions": shown, **standing.fields}


def _own_folder() -> Path:
    """Return a directory that nobody else can write to, the same each time. Raises Invalid if it cannot be had."""
    folder = Path(tempfile.gettempdir()).resolve() / f"stoker-kubernetes-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise Invalid(f"{folder} belongs to somebody else.")
    return folder


def run(namespaces: Sequence[str] | None, liveness_port: int | None, pace: Pace) -> None:
    """Run the operator for these namespaces, or for all, until SIGTERM."""
    client = Client()
    cluster = client.get(Namespace, _SYSTEM_NAMESPACE).metadata
    operator = Operator(client, _own_folder(), cluster.uid if cluster is not None and cluster.uid else "", pace.retry)
    registry = kopf.OperatorRegistry()

    @kopf.on.startup(registry=registry)
    def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        settings.execution.max_workers = _WORKERS
        settings.persistence.finalizer = f"{GROUP}/stack"
        settings.background.cancellation_polling = pace.tick  # until a deleted object's timer is found to have ended
        settings.posting.level = logging.WARNING
        settings.scanning.disabled = True

    @kopf.on.login(registry=registry)
    def log_in(**options: Any) -> kopf.ConnectionInfo | None:
        return kopf.login_with_service_account(**options) or kopf.login_with_kubeconfig(**options)

    @kopf.timer(GROUP, VERSION, PLURAL, interval=pace.tick, registry=registry)
    def tick(meta: kopf.Meta, spec: kopf.Spec, status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
        found = operator.tick(ObservedStack(meta, spec, status), datetime.now(UTC))
        if found is not None:
            _logger.info("%s/%s: %s", meta.namespace, meta.name, found["conditions"][0]["reason"])
            patch.status.update(found)

    @kopf.on.delete(GROUP, VERSION, PLURAL, registry=registry)
    def remove_stack(meta: kopf.Meta, spec: kopf.Spec, status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
        found = operator.removal(ObservedStack(meta, spec, status), datetime.now(UTC))
        if found is not None:
            patch.status.update(found)
            pause = pace.tick if reason_in(found) is Reason.PROGRESSING else pace.retry
            raise kopf.TemporaryError(found["conditions"][0]["message"], delay=pause)

    kopf.run(
        registry=registry,
        standalone=True,
        clusterwide=namespaces is None,
        namespaces=namespaces or (),
        liveness_endpoint=f"http://0.0.0.0:{liveness_port}/healthz" if liveness_port is not None else None,
    )
