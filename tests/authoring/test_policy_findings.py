"""`stoker lint --policy`: policies on plans, evaluated without a server."""

from __future__ import annotations

import json
from typing import Any

from tests.authoring.support import WorkingDirectory

POLICIES = """
    policies:
    - use: no-open-ssh
    - name: small-volumes
      types: [OS::Cinder::Volume]
      expression: step.properties.size <= 100
      hint: ask for up to 100 GiB
    - name: asks
      types: [OS::Cinder::Volume]
      expression: step.properties.size <= 50
      verdict: require_approval
    - name: few
      for: plan
      expression: plan.steps.size() <= 3
      verdict: warn
    - name: priced
      for: plan
      expression: double(plan.costs.after) < 10.0
    - name: later
      types: [OS::Cinder::Volume]
      expression: step.properties.description == 'x'
"""
CHILD = """
    heat_template_version: 2021-04-16
    parameters: {size: {type: number}}
    resources:
      disk:
        type: OS::Cinder::Volume
        properties: {size: {get_param: size}, description: x}
"""
TEMPLATE = """
    heat_template_version: 2021-04-16
    parameters:
      source: {type: string}
      size: {type: number, default: 200}
      extra: {type: boolean, default: false}
    conditions: {extra: {get_param: extra}}
    resources:
      rules:
        type: OS::Neutron::SecurityGroup
        properties:
          rules: [{protocol: tcp, port_range_min: 22, port_range_max: 22, remote_ip_prefix: {get_param: source}}]
      nested: {type: child.yaml, properties: {size: {get_param: size}}}
      word: {type: OS::Heat::RandomString}
      late:
        type: OS::Cinder::Volume
        properties: {size: 1, description: {get_attr: [word, value]}}
      huge: {type: OS::Cinder::Volume, condition: extra, properties: {size: 1000, description: x}}
"""


def found(workdir: WorkingDirectory, *words: str) -> dict[tuple[str, str], dict[str, Any]]:
    """What policies say, by policy and path."""
    workdir.write("child.yaml", CHILD)
    workdir.write("policies.yaml", POLICIES)
    workdir.write("web.yaml", TEMPLATE)
    answer = json.loads(workdir.stoker("lint", "-f", "json", "web.yaml", "--policy", "policies.yaml", *words).stdout)
    return {(each["rule"], ".".join(map(str, each["path"]))): each for each in answer["diagnostics"]}


def test_denied_changes_are_errors_with_positions(workdir: WorkingDirectory) -> None:
    results = found(workdir, "-P", "source=0.0.0.0/0", "-P", "size=150")
    assert {place for place, each in results.items() if each["severity"] == "error"} == {
        ("no-open-ssh", "resources.rules"),
        ("small-volumes", "resources.disk"),
    }
    small = results["small-volumes", "resources.disk"]
    assert small["source"] == "child.yaml" and small["position"]["line"] == 4
    assert small["hint"] == "ask for up to 100 GiB"
    warned = {place for place, each in results.items() if each["severity"] == "warning"}
    assert warned == {("asks", "resources.disk"), ("few", ""), ("priced", ""), ("later", "resources.late")}
    assert results["few", ""]["source"] == "web.yaml"
    assert "not known without a deployment" in results["later", "resources.late"]["message"]


def test_policy_findings_depend_on_parameters_and_conditions(workdir: WorkingDirectory) -> None:
    fine = found(workdir, "-P", "source=10.0.0.0/8", "-P", "size=20")
    assert not any(each["severity"] == "error" for each in fine.values())
    more = found(workdir, "-P", "source=10.0.0.0/8", "-P", "size=20", "-P", "extra=true")
    assert ("small-volumes", "resources.huge") in more


def test_policy_findings_exit_status_excerpts_and_sarif(workdir: WorkingDirectory) -> None:
    found(workdir)
    words = ("lint", "web.yaml", "--policy", "policies.yaml", "-P", "source=0.0.0.0/0")
    shown = workdir.stoker(*words)
    assert shown.exit_code == 1
    assert "error[no-open-ssh]: a rule lets the whole world" in shown.stdout and "  |   ^^^^^" in shown.stdout
    log = json.loads(workdir.stoker(*words, "-f", "sarif").stdout)
    results = {each["ruleId"]: each for each in log["runs"][0]["results"]}
    assert results["no-open-ssh"]["level"] == "error" and results["few"]["level"] == "warning"
    region = results["no-open-ssh"]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 8, "startColumn": 3}


def test_invalid_policies_are_reported_with_lines(workdir: WorkingDirectory) -> None:
    workdir.write("web.yaml", TEMPLATE)
    workdir.write("policies.yaml", POLICIES.replace("- use: no-open-ssh", "- use: no-open-shh"))
    refused = workdir.stoker("lint", "web.yaml", "--policy", "policies.yaml")
    assert refused.exit_code == 1
    assert "The policies cannot be used:" in refused.stderr and "did you mean 'no-open-ssh'?" in refused.stderr
    assert "2 | - use: no-open-shh" in refused.stderr
