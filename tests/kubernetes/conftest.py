"""The operator for Kubernetes beside a running Stoker and an API server for tests."""

from __future__ import annotations

import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stoker_kubernetes.definition import definition
from testing.kubernetes_api import KubernetesApi, Object
from tests.cli.cli_shell import BIN, Shell
from tests.cli.conftest import embedded

__all__ = ["embedded"]

CLOUD = {"secretName": "cloud", "name": "stoker"}


@dataclass(frozen=True)
class Cluster:
    """A namespace `shop` with the Secret `cloud`, whose objects the operator serves."""

    api: KubernetesApi
    shell: Shell

    def apply(self, name: str, template: str, **spec: Any) -> Object:
        """Apply an object of the kind Stack."""
        return self.api.apply("Stack", name, spec={"cloud": CLOUD, "template": template, **spec})

    def delete(self, name: str) -> None:
        """Delete an object, and wait until it is gone."""
        self.api.delete(name)
        self.api.wait_for(lambda: self.api.get(name) is None)

    def ready(self, name: str, *reasons: str) -> Object:
        """Wait until the newest generation of an object has one of the reasons; return its status."""

        def reached() -> bool:
            found = self.api.get(name)
            assert found is not None
            status: Object = found.get("status", {})
            if status.get("observedGeneration") != found["metadata"]["generation"]:
                return False
            return condition(status, "Ready")["reason"] in reasons

        try:
            self.api.wait_for(reached)
        except AssertionError:
            raise AssertionError((self.api.get(name) or {}).get("status")) from None
        found = self.api.get(name)
        assert found is not None
        status: Object = found["status"]
        return status


def condition(status: Object, kind: str) -> Object:
    """Return a condition of a status."""
    conditions: list[Object] = status["conditions"]
    [found] = [each for each in conditions if each["type"] == kind]
    return found


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def cluster(embedded: Shell, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with KubernetesApi(definition()) as api:
        api.write_kubeconfig(folder / "kubeconfig")
        clouds = (embedded.directory / "clouds.yaml").read_text()
        api.apply("Secret", "cloud", data={"clouds.yaml": encoded(clouds)})
        with Running(folder, api.url):
            yield Cluster(api, embedded)


class Running:
    """The operator as a process, from `folder`, in whose `log` it writes. To be used in a `with`."""

    def __init__(self, folder: Path, url: str) -> None:
        self._log = (folder / "log").open("w")
        environment = {**os.environ, "KUBECONFIG": str(folder / "kubeconfig"), "HOME": str(folder)}
        self._process = subprocess.Popen(
            [BIN / "stoker-kubernetes", "run", "-n", "shop", "--tick", "0.3", "--retry", "4"],
            env=environment,
            stdout=self._log,
            stderr=self._log,
        )

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        assert self._process.wait(timeout=60) == 0
        self._log.close()
