"""The community's example templates, deployed, checked and deleted as they are.

`community.yaml` has the values of their parameters (names of images, flavors and networks, and what has no default), a
stack with what they name, and why some cannot be deployed. The guests of the lab's servers do not run: signals and
results of deployments that they would send are sent for them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import yaml
from heatclient.common import template_utils

from testing import corpus
from tools.realcloud.background import repeated
from tools.realcloud.engine import Refused, Stacks, Stuck
from tools.realcloud.lab import Account
from tools.realcloud.operators.base import Unexpected, deleted, deployed, expect, networked
from tools.realcloud.operators.place import Place
from tools.realcloud.operators.regions import second
from tools.realcloud.operators.rows import ABSENT, FAILED, PASSED, Row, passed_alone

DOCUMENT = Path(__file__).with_name("community.yaml")
ACCOUNT = "operator-community"
WORKERS = 3
_SIGNAL_SECONDS = 2.0
_KEY = {
    "heat_template_version": "2021-04-16",
    "resources": {"key": {"type": "OS::Nova::KeyPair", "properties": {"name": ACCOUNT}}},
}
"""The key pair that templates name, for the other accounts in which some run."""
_MISSING_FILE = re.compile(r"file://(\S+?)['\"]?(?::|\s|>|$)")
_IS_TEMPLATE = re.compile(r"heat_template_version|(AWS|Heat)TemplateFormatVersion")
_HANDLES = ("OS::Heat::WaitConditionHandle", "AWS::CloudFormation::WaitConditionHandle")
_DEPLOYMENTS = ("OS::Heat::SoftwareDeployment", "OS::Heat::StructuredDeployment")
_SIGNALS: Mapping[str, Mapping[str, Any]] = {
    "OS::Heat::WaitConditionHandle": {"status": "SUCCESS", "reason": "done", "data": "done"},
    "AWS::CloudFormation::WaitConditionHandle": {
        "UniqueId": "1", "Status": "SUCCESS", "Reason": "done", "Data": "done",
    },
    **{name: {"deploy_stdout": "done", "deploy_stderr": "", "deploy_status_code": 0} for name in _DEPLOYMENTS},
}  # fmt: skip
"""Type → what a guest sends."""


class Unusable(Exception):
    """A file is not a template that can be deployed by itself."""


def rows(place: Place) -> Iterator[Row]:
    """Deploy each template, a few side by side. What fails is deployed again alone."""
    found = corpus.folder()
    if found is None:
        yield Row("STOKER_TEMPLATE_CORPUS", ABSENT, corpus.ABSENT)
        return
    folder = place.home / "corpus"
    shutil.copytree(found, folder, dirs_exist_ok=True)
    document = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    community = Community(place, folder, document)
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
    chosen = [name for name in names if name.endswith((".yaml", ".template")) and not corpus.is_invalid(name)]
    chosen = [name for name in chosen if place.selection.search(name)]
    with community.base(), ThreadPoolExecutor(WORKERS) as threads:
        failed = []
        for row in threads.map(community.row, chosen):
            if row is not None and row.status == FAILED:
                failed.append(row)
            elif row is not None:
                yield row
        for row in failed:
            again = community.row(row.name)
            yield row if again is None else passed_alone(row, again)


class Community:
    """Deploys templates of `folder`, a copy of the collection."""

    def __init__(self, place: Place, folder: Path, document: Mapping[str, Any]) -> None:
        self._place, self._folder = place, folder
        self._images, self._values, self._accounts, self._templates = (
            document[key] for key in ("images", "parameters", "accounts", "templates")
        )
        if unknown := [name for name in self._templates if not (folder / name).is_file()]:
            raise LookupError(f"{DOCUMENT}: there are no templates {', '.join(unknown)}")

    @contextmanager
    def base(self) -> Iterator[None]:
        """What the templates name; deleted in the end."""
        stacks = Stacks(self._place.lab.accounts[ACCOUNT])
        with ExitStack() as held:
            held.enter_context(networked(stacks))
            held.enter_context(deployed(stacks, "op-images", self._images_template()))
            for name in self._accounts:
                held.enter_context(deployed(Stacks(self._place.lab.accounts[name]), "op-key", _KEY))
            yield

    def _images_template(self) -> dict[str, Any]:
        common = {"disk_format": "raw", "container_format": "bare", "location": f"{self._place.web}/small.qcow2"}
        images = {
            f"image{number}": {"type": "OS::Glance::WebImage", "properties": {"name": name, **common}}
            for number, name in enumerate(self._images)
        }
        return {"heat_template_version": "2021-04-16", "resources": images}

    def row(self, name: str) -> Row | None:
        """Deploy, check and delete a template; None if the file is an environment, or a part of something."""
        if not _IS_TEMPLATE.search((self._folder / name).read_text(encoding="utf-8")):
            return None
        adapted = self._templates.get(name, {})
        if reason := adapted.get("cannot"):
            return Row(name, ABSENT, reason)
        try:
            files, template = self._contents(self._folder / name)
        except Unusable as error:
            return Row(name, ABSENT, str(error))
        if not template.get("resources") and not template.get("Resources"):
            return None
        account = self._place.lab.accounts[adapted.get("account", ACCOUNT)]
        regions = second(self._place) if adapted.get("in_regions") else nullcontext()
        try:
            with regions:
                # A new login: the catalog of an older token does not contain the second region.
                self._deploy(Stacks(Account(account.auth, account.region)), name, template, files, adapted)
        except (Refused, Stuck, Unexpected) as error:
            return Row(name, FAILED, str(error))
        return Row(name, PASSED)

    def _deploy(
        self,
        stacks: Stacks,
        name: str,
        template: Mapping[str, Any],
        files: Mapping[str, str],
        adapted: Mapping[str, Any],
    ) -> None:
        declared = template.get("parameters") or template.get("Parameters") or {}
        values = {key: value for key, value in self._values.items() if key in declared}
        values |= adapted.get("parameters", {})
        environment, more = self._environment(adapted.get("environment"))
        title = "op-" + re.sub(r"[^a-z0-9]+", "-", name.lower())
        options = {"parameters": values, "environment": environment}
        stack = stacks.create(title[:200], template, {**files, **more}, **options)
        try:
            with guests(stacks, stack):
                expect(stacks, stack, "CREATE_COMPLETE")
            stacks.act(stack, "check")
            expect(stacks, stack, "CHECK_COMPLETE")
        finally:
            deleted(stacks, stack)
            if secret := adapted.get("leaves"):
                _remove_secret(stacks.account, secret)

    def _contents(self, path: Path) -> tuple[dict[str, str], dict[str, Any]]:
        """Return the files and the template; scripts, which the collection does not contain, are made up."""
        for _ in range(50):
            try:
                files, template = template_utils.get_template_contents(template_file=str(path))
            except Exception as error:  # python-heatclient passes on whatever opening and parsing raise
                self._make_up(error)
            else:
                return _strings(files), template
        raise Unusable("too many files are missing")

    def _make_up(self, error: Exception) -> None:
        named = _MISSING_FILE.search(str(error)) or re.search(r"'(/[^']+)'", str(error))
        missing = Path(named[1]) if named else None
        if missing is None or missing.exists():
            raise Unusable(f"It is no template: {error}") from error
        missing.parent.mkdir(parents=True, exist_ok=True)
        missing.write_text("echo done\n", encoding="utf-8")

    def _environment(self, name: str | None) -> tuple[dict[str, Any], dict[str, str]]:
        if name is None:
            return {}, {}
        for _ in range(50):
            try:
                files, environment = template_utils.process_environment_and_files(str(self._folder / name))
            except Exception as error:
                self._make_up(error)
            else:
                return environment, _strings(files)
        raise Unusable("too many files are missing")


def _remove_secret(account: Account, name: str) -> None:
    """Delete the secrets of this name."""
    for one in account.ask("key-manager", "GET", "/v1/secrets", params={"name": name})["secrets"]:
        account.ask("key-manager", "DELETE", f"/v1/secrets/{one['secret_ref'].rpartition('/')[2]}")


def _strings(files: Mapping[str, str | bytes]) -> dict[str, str]:
    """Return the contents of files; python-heatclient leaves those as bytes that are not templates."""
    return {name: text if isinstance(text, str) else text.decode() for name, text in files.items()}


def guests(stacks: Stacks, stack: str) -> AbstractContextManager[None]:
    """Send what the guests of a stack's servers would send, until the body ends."""

    def answer() -> None:
        with suppress(Refused):
            _answer(stacks, stack)

    return repeated(_SIGNAL_SECONDS, answer)


def _answer(stacks: Stacks, stack: str) -> None:
    """Signal each handle once something waits, and each deployment in progress."""
    listed = stacks.send("GET", f"{stack}/resources", params={"nested_depth": 5})["resources"]
    running = [one for one in listed if one["resource_status"].endswith("IN_PROGRESS")]
    conditions = any(one["resource_type"].endswith("::WaitCondition") for one in running)
    for one in listed:
        kind = one["resource_type"]
        deployment = kind in _DEPLOYMENTS and one in running
        if deployment or (kind in _HANDLES and conditions):
            [own] = [link["href"] for link in one["links"] if link["rel"] == "stack"]
            path = own[own.index("/stacks/") :]
            stacks.send("POST", f"{path}/resources/{one['resource_name']}/signal", json=_SIGNALS[kind])
