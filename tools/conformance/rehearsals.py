"""Rehearse the templates of the OpenStack community, and list what is found in them.

    python -m tools.conformance.rehearsals [PATTERN]

With a PATTERN, a regular expression, only the templates whose paths contain it are rehearsed. `STOKER_TEMPLATE_CORPUS`
names the folder with openstack/heat-templates; by default it is looked for beside this repository. Parameters get
values that the emulated cloud has, and files that the collection lacks are empty. A template that only makes sense
inside of another one is a part. The exit status is 2 without the templates.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stoker.base.errors import StokerError, TemplateInvalid
from stoker.template.document import Document
from stoker.testing.rehearsal.rehearsal import WORKER, Rehearsal, check, rehearse
from stoker.testing.rehearsal.rules import CREATION_FAILS
from stoker.testing.rehearsal.scenario import Scenario
from stoker.testing.workers import Workers
from testing import corpus
from tools.conformance.community.run import read_document

SEEDS = 8
"""Runs with disruptions for each template: each request that is new is slow at first, and finds dependencies."""
_IMAGES = ("fedora", "ubuntu", "F17-x86_64-cfntools", "F19-x86_64-cfntools", "Fedora-Cloud-Base-20141203-21.x86_64")
CLOUD: Mapping[str, Any] = {
    "keypairs": ["community"],
    "images": {name: {} for name in _IMAGES},
    "roles": ["admin"],
    "regions": ["RegionTwo"],
}
_SUFFIXES = (".yaml", ".template", ".json")
_NESTED = re.compile(r"""type:\s*["']?([\w./-]+\.yaml)""")
_GET_FILE = re.compile(r"""(?:get_file|get_file"):\s*["']?([^\s"'{}]+)""")
_BY_CONSTRAINT = {
    "nova.keypair": "community",
    "nova.flavor": "m1.small",
    "glance.image": "cirros",
    "neutron.network": "private",
    "neutron.subnet": "private-subnet",
    "keystone.domain": "default",
    "keystone.project": "demo",
    "keystone.role": "member",
    "keystone.region": "RegionOne",
}
_BY_NAME = (
    ("public_net", "public"),
    ("external", "public"),
    ("floating", "public"),
    ("security_?group", "default"),
    ("cidr", "10.5.0.0/24"),
    ("gateway", "10.5.0.1"),
    ("start", "10.5.0.10"),
    ("end$", "10.5.0.90"),
    ("mail", "admin@example.com"),
    ("domain$", "default"),
    ("project", "demo"),
    ("role", "member"),
    ("region", "RegionOne"),
    ("url$", "http://10.5.0.20:8080"),
    ("ip_address", "10.5.0.20"),
    ("pass", "Secret12"),
    ("key", "community"),
    ("image", "cirros"),
    ("flavor", "m1.small"),
    ("instance_?type", "m1.small"),
    ("subnet", "private-subnet"),
    ("net", "private"),
    ("port", "8080"),
)
_OUTDATED = {"expiration": "2099-12-28T19:14:44"}
"""Values in place of defaults that were right when the templates were written."""
_VALUES: Mapping[str, Mapping[str, Any]] = {
    "hot/blazar/blazar_host.yaml": {"name": "compute-4"},
    "hot/nova/host_aggregate.yaml": {"hosts": ["compute-2"]},
    "hot/keystone/keystone_project.yaml": {"project_name": "office"},
    "hot/keystone/keystone_region.yaml": {"region_id": "RegionFour", "parent_region_id": "RegionThree"},
    "hot/keystone/keystone_role.yaml": {"role_name": "operator"},
    "hot/keystone/keystone_user.yaml": {"user_groups": []},
    "hot/Windows/IIS_Drupal/IIS_Drupal.yaml": {"sa_password": r"Secret\d12"},
}
"""Values for parameters of templates whose names say too little."""
_ENVIRONMENTS = {
    "hot/mistral/templates/autoscaling_using_mistral.yaml": "hot/mistral/nova_networking_server_with_ip_env.yaml"
}
"""Environments of templates, but for those that are beside them."""
_BY_TYPE: Mapping[str, Any] = {
    "number": 1,
    "Number": 1,
    "boolean": True,
    "json": {},
    "comma_delimited_list": "1,2",
    "CommaDelimitedList": "1,2",
    "AWS::EC2::KeyPair::KeyName": "community",
    "AWS::EC2::Image::Id": "cirros",
}


def main() -> int:
    """Rehearse the templates; return the exit status."""
    collection, pattern = corpus.folder(), re.compile("".join(sys.argv[1:2]))
    if collection is None:
        print(corpus.ABSENT, file=sys.stderr)
        return 2
    logging.getLogger().addHandler(logging.NullHandler())
    rules: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="stoker-rehearsals-") as directory, Workers(WORKER, 1) as workers:
        copy = Path(directory).resolve() / "heat-templates"
        shutil.copytree(collection, copy, copy_function=shutil.copyfile)
        os.chdir(copy)
        templates = [name for name in _templates(copy) if not corpus.is_invalid(name)]
        parts = set(_parts(templates))
        for name in templates:
            if pattern.search(name):
                outcomes[_rehearse(name, name in parts, workers, rules)] += 1
    print(f"\n{', '.join(f'{count} {what}' for what, count in outcomes.most_common())}")
    for rule, count in rules.most_common():
        print(f"{count:4} {rule}")
    return 0


def _templates(copy: Path) -> Iterator[str]:
    """Yield the templates, and write the files that they read and that are not there."""
    for path in sorted(copy.rglob("*")):
        if path.suffix not in _SUFFIXES:
            continue
        text = path.read_text("utf-8")
        for named in _GET_FILE.findall(text):
            template_path = (path.parent / named).resolve()
            if template_path.is_relative_to(copy.parent) and not template_path.exists():
                template_path.parent.mkdir(parents=True, exist_ok=True)
                template_path.write_text("#!/bin/sh\n")
        if re.search(r"^\s*[\"']?(resources|Resources)[\"']?\s*:", text, re.MULTILINE):
            yield str(path.relative_to(copy))


def _parts(templates: Iterable[str]) -> Iterator[str]:
    """Yield the templates that others have as types: their parameters may be objects that only those create."""
    for name in templates:
        for named in _NESTED.findall(Path(name).read_text("utf-8")):
            yield os.path.normpath(Path(name).parent / named)


def _rehearse(name: str, is_part: bool, workers: Workers, rules: Counter[str]) -> str:
    """Rehearse a template, print what is found, and return how it went, in one word or two."""
    refused = "part" if is_part else "refused"
    try:
        data = Document.parse(Path(name).read_text("utf-8")).data
        cloud = {**CLOUD, "images": {**CLOUD["images"], **{image: {} for image in _images(data)}}}
        scenario = Scenario(name, environments=_environment(name), parameters=_values(name, data), cloud=cloud)
        check(scenario)
        rehearsal = rehearse(scenario, SEEDS, None, workers)
    except TemplateInvalid as error:
        print(f"{refused:9} {name}: {error.diagnostics[0].text()}", flush=True)
        return refused
    except StokerError as error:
        print(f"{refused:9} {name}: {error.message}", flush=True)
        return refused
    if is_part and any(each.rule == CREATION_FAILS for each in rehearsal.findings):
        print(f"part      {name}: {rehearsal.findings[0].text()}", flush=True)
        return "part"
    rules.update(each.rule for each in rehearsal.findings)
    print(f"{'findings ' if rehearsal.findings else 'good     '} {name}: {_states(rehearsal)}", flush=True)
    for each in rehearsal.findings:
        print(f"    [{each.rule}] {each.text()}", flush=True)
    return "with findings" if rehearsal.findings else "without findings"


def _states(rehearsal: Rehearsal) -> str:
    return ", ".join(f"{phase.state} {phase.seconds:.0f} s" for phase in rehearsal.undisturbed.phases)


def _environment(name: str) -> tuple[str, ...]:
    """Return the environment that a template of the collection has beside it: `name_env.yaml` for `name.yaml`."""
    if name in _ENVIRONMENTS:
        return (_ENVIRONMENTS[name],)
    path = Path(name)
    beside = path.with_name(f"{path.stem}_env{path.suffix}")
    return (str(beside),) if beside.exists() else ()


def _images(data: Mapping[str, Any]) -> set[str]:
    """Return the names of images in the mappings of a template, and in the defaults of its parameters."""
    mappings = [value for name, value in (data.get("Mappings") or {}).items() if re.search("AMI|Image", name)]
    named = {text for each in mappings for inner in each.values() for text in inner.values() if isinstance(text, str)}
    parameters = (data.get("parameters") or data.get("Parameters") or {}).items()
    defaults = [each.get("default", each.get("Default")) for name, each in parameters if re.search("(?i)image", name)]
    return (named | {text for text in defaults if isinstance(text, str)}) - {"cirros", ""}


def _values(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {**dict(_parameters(data)), **_VALUES.get(name, {})}


def _parameters(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield values for the parameters of a template: what the cloud has in place of names in other clouds."""
    known = read_document().parameters
    for parameter, schema in (data.get("parameters") or data.get("Parameters") or {}).items():
        named = next((value for word, value in _BY_NAME if re.search(word, parameter, re.IGNORECASE)), parameter)
        constraints = {key: value for each in schema.get("constraints", ()) for key, value in each.items()}
        allowed = constraints.get("allowed_values") or schema.get("AllowedValues")
        custom = _BY_CONSTRAINT.get(str(constraints.get("custom_constraint")))
        if custom == "private" and named == "public":
            custom = "public"
        existing = custom or known.get(parameter) or _OUTDATED.get(parameter)
        if existing and (not allowed or existing in allowed):
            yield parameter, existing
        elif "default" not in schema and "Default" not in schema:
            yield parameter, allowed[0] if allowed else _BY_TYPE.get(str(schema.get("type", schema.get("Type"))), named)


if __name__ == "__main__":
    sys.exit(main())
