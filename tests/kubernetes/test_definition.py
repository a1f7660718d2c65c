"""The manifests that install the operator, and what the API server refuses because of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner

from stoker_kubernetes.command import main
from stoker_kubernetes.definition import SPEC, definition
from stoker_kubernetes.status import Reason
from testing.kubernetes_api import ApiProblem, KubernetesApi
from tests.kubernetes.conftest import CLOUD

PAGE = Path(__file__).parents[2] / "docs/how-to/kubernetes.md"


def test_the_manifests_are_valid_by_the_published_schemas() -> None:
    done = CliRunner().invoke(main, ["manifests", "--image", "registry.example.org/stoker:1"])
    found = list(yaml.safe_load_all(done.output))
    for manifest in found:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    assert [each["kind"] for each in found] == [
        *("Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment")
    ]
    assert found[-1]["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example.org/stoker:1"
    alone = CliRunner().invoke(main, ["manifests", "--crd"])
    assert yaml.safe_load(alone.output) == found[1] == definition()


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"cloud": CLOUD}, "exactly one of template and templateFrom is needed"),
        ({"cloud": CLOUD, "template": "x", "templateFrom": {"name": "a", "key": "b"}}, "exactly one of template"),
        ({"template": "x"}, "'cloud' is a required property"),
        ({"cloud": {"name": "x"}, "template": "x"}, "'secretName' is a required property"),
        ({"cloud": CLOUD, "template": "x", "approval": "Maybe"}, "'Maybe' is not one of"),
        ({"cloud": CLOUD, "template": "x", "intervalSeconds": 1}, "1 is less than the minimum"),
    ],
)
def test_invalid_manifests_are_refused(spec: dict[str, Any], problem: str) -> None:
    with KubernetesApi(definition()) as api, pytest.raises(ApiProblem, match=problem) as caught:
        api.apply("Stack", "web", spec=spec)
    assert caught.value.status == 422


def test_stack_name_is_immutable() -> None:
    with KubernetesApi(definition()) as api:
        api.apply("Stack", "web", spec={"cloud": CLOUD, "template": "x", "stackName": "a"})
        api.apply("Stack", "web", spec={"cloud": CLOUD, "template": "y", "stackName": "a"})
        for changed in ({"stackName": "b"}, {}):
            with pytest.raises(ApiProblem, match="the name of a stack cannot be changed"):
                api.apply("Stack", "web", spec={"cloud": CLOUD, "template": "y", **changed})


def test_the_page_describes_each_field_and_reason_and_its_examples_are_accepted() -> None:
    text = PAGE.read_text()
    table = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert table == set(SPEC["properties"]) | {each.value for each in Reason}
    with KubernetesApi(definition()) as api:
        for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
            for each in yaml.safe_load_all(block):
                if each["kind"] == "Stack":
                    api.apply("Stack", each["metadata"]["name"], spec=each["spec"])


@pytest.mark.parametrize("arguments", [(), ("-n", "shop", "--all-namespaces")])
def test_one_choice_of_namespaces_is_needed(arguments: tuple[str, ...]) -> None:
    refused = CliRunner().invoke(main, ["run", *arguments])
    assert (refused.exit_code, "either --namespace or --all-namespaces" in refused.output) == (2, True)
