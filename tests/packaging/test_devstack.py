"""The plug-in for DevStack, with DevStack's functions in `devstack_library.sh`, and the image for Kolla."""

from __future__ import annotations

import configparser
import json
import os
import pwd
import re
import subprocess
from pathlib import Path

import jinja2
import pytest

from stoker.processes.lifetime import cluster_config
from tests.packaging.test_deployment import Arguments, arguments_of

__all__ = ["arguments_of"]  # a fixture

ROOT = Path(__file__).parents[2]
LIBRARY = Path(__file__).with_name("devstack_library.sh")
KOLLA = ROOT / "deploy" / "kolla"

SERVICES = ("stoker-engine", "stoker-api", "stoker-api-cfn")


def run(place: Path, *phases: str, **more: str) -> list[list[str]]:
    """Source the plug-in once per phase, as DevStack does; return the calls of DevStack's functions and programs."""
    calls = place / "calls"
    calls.write_text("")
    sourced = "\n".join(f"source {ROOT}/devstack/plugin.sh {phase}" for phase in phases)
    script = f"source {LIBRARY}\nsource {ROOT}/devstack/settings\n{sourced}\n"
    environment = {
        "PATH": os.environ["PATH"], "CALLS": str(calls), "ENABLED": "mysql", "DEST": str(ROOT.parent),
        "STOKER_DIR": str(ROOT),
        "DATA_DIR": str(place / "data"), "STOKER_CONF_DIR": str(place / "etc"), "SERVICE_HOST": "192.0.2.1",
        "SERVICE_PASSWORD": "secret", "REGION_NAME": "RegionOne", "STACK_USER": pwd.getpwuid(os.getuid()).pw_name,
        "KEYSTONE_SERVICE_URI": "http://192.0.2.1/identity", **more,
    }  # fmt: skip
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split("\t") for line in calls.read_text().splitlines()]


def called(calls: list[list[str]], name: str) -> list[list[str]]:
    return [words[1:] for words in calls if words[0] == name]


def test_the_plug_in_installs_configures_and_starts_every_service(tmp_path: Path, arguments_of: Arguments) -> None:
    calls = run(tmp_path, "stack pre-install", "stack install", "stack post-config", "stack extra", "stack test-config")

    assert called(calls, "enable_service") == [list(SERVICES)]
    assert {"h-eng", "h-api", "h-api-cfn"} == set(called(calls, "disable_service")[0])
    (installed,) = called(calls, "pip")
    packages = f"{ROOT}/packages"
    assert installed == [
        *("install", "--editable", f"{packages}/stoker-foundation", "--editable", f"{packages}/stoker[mysql]"),
        f"{ROOT}/packages/stoker-heat-commands",
    ]
    order = [words[:2] for words in calls]
    assert order.index(["recreate_database", "heat"]) < order.index(["stoker", "db"])
    for words in called(calls, "stoker"):
        arguments_of(words)
    started = called(calls, "run_process")
    assert {name for name, _ in started} == set(SERVICES)
    for name, command in started:
        program, *words = command.split()
        assert program == f"{tmp_path}/data/stoker-venv/bin/stoker" and name.endswith(words[0])
        arguments_of(words)

    files: dict[str, configparser.ConfigParser] = {}
    for path, section, option, value in called(calls, "iniset"):
        parser = files.setdefault(path, configparser.ConfigParser(interpolation=None, default_section="-"))
        if not parser.has_section(section):
            parser.add_section(section)
        parser.set(section, option, value)
    for path, parser in files.items():
        with Path(path).open("w") as file:
            parser.write(file)
    config = cluster_config(list(files))
    assert config.region_name_for_services == "RegionOne" and config.stack_user_domain_name == "heat"
    assert config.database.connection.startswith("mysql+pymysql:") and config.heat_api.bind_port == 8004
    assert len(config.auth_encryption_key) == 32 and config.host.endswith("-1")
    key = config.auth_encryption_key
    again = run(tmp_path, "stack post-config")
    kept = [value for *_, option, value in called(again, "iniset") if option == "auth_encryption_key"]
    assert kept == [key], "a second stack.sh keeps the key"


def test_the_plug_in_stops_and_removes_what_it_has_made(tmp_path: Path) -> None:
    run(tmp_path, "stack install", "stack post-config")
    calls = run(tmp_path, "unstack", STOKER_ENGINES="2")
    assert [name for (name,) in called(calls, "stop_process")] == [
        "stoker-api", "stoker-api-cfn", "stoker-engine", "stoker-engine-2",
    ]  # fmt: skip
    assert (tmp_path / "etc").exists()
    run(tmp_path, "clean")
    assert not (tmp_path / "etc").exists() and not (tmp_path / "data" / "stoker-venv").exists()


def test_the_plug_in_does_nothing_for_a_host_without_its_services(tmp_path: Path) -> None:
    library = f"source {LIBRARY}\nsource {ROOT}/devstack/plugin.sh stack install\n"
    environment = {"PATH": os.environ["PATH"], "CALLS": str(tmp_path / "calls"), "ENABLED": "mysql"}
    done = subprocess.run(["bash", "-c", library], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "calls").exists()


MACROS = """
{%- macro configure_user(name, homedir='', shell='') -%}
RUN usermod --append --groups kolla {{ name }}
{%- endmacro -%}
"""


def rendered() -> str:
    """Return the image's Dockerfile, made as Kolla makes it, with a stand-in for Kolla's macros."""
    loader = jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader(KOLLA / "docker" / "stoker"), jinja2.DictLoader({"macros.j2": MACROS})]
    )
    template = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined).get_template("Dockerfile.j2")
    return template.render(
        namespace="kolla", image_prefix="", tag="master", maintainer="m", image_name="stoker", build_date="20260101"
    )


def test_the_image_for_kolla_is_made_of_files_that_exist() -> None:
    lines = [line for line in rendered().replace("\\\n", "").splitlines() if line and not line.startswith("#")]
    assert lines[0] == "FROM kolla/openstack-base:master" and lines[-1] == "USER heat"
    copied = [line.split()[1] for line in lines if line.startswith("COPY")]
    assert copied == ["extend_start.sh"] and (KOLLA / "docker" / "stoker" / "extend_start.sh").exists()
    (install,) = (line for line in lines if "pip install" in line)
    options = install.partition("pip install ")[2].partition(" && ")[0].split()
    sources = [re.sub(r"\[.*", "", word.strip("'")) for word in options if not word.startswith("-")]
    assert len(sources) == 3
    for source in sources:
        assert (ROOT / f"./{source.removeprefix('/stoker')}" / "pyproject.toml").exists(), source


@pytest.mark.parametrize("name", ["engine", "api", "api-cfn"])
def test_containers_of_kolla_run_commands_that_exist(name: str, arguments_of: Arguments) -> None:
    document = json.loads((KOLLA / "config" / f"stoker-{name}.json").read_text())
    program, *words = document["command"].split()
    assert program == "stoker" and words[0] == name
    (path,) = arguments_of(words)["config_files"]
    required = [file["dest"] for file in document["config_files"] if not file.get("optional")]
    assert required == [path]


def test_the_bootstrap_of_kolla_creates_the_tables(tmp_path: Path, arguments_of: Arguments) -> None:
    script = (KOLLA / "docker" / "stoker" / "extend_start.sh").read_text().replace("/var/log/kolla", str(tmp_path))
    (tmp_path / "stoker").write_text(f'#!/bin/bash\necho "$@" >> {tmp_path}/calls\n')
    (tmp_path / "stoker").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for more, status in (({}, 7), ({"KOLLA_BOOTSTRAP": ""}, 0)):
        done = subprocess.run(["bash", "-ec", f"{script}\nexit 7"], env={**environment, **more})
        assert done.returncode == status
    arguments_of((tmp_path / "calls").read_text().split())
    assert (tmp_path / "calls").read_text().startswith("db sync ")
