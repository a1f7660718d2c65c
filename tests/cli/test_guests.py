"""Servers that run: their user data signals a template's wait conditions, and floating IPs lead to their programs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest

from tests.cli.agent_cloud import until
from tests.cli.cli_shell import Shell
from tests.cli.guest_shell import guest_image, require_built_image

pytestmark = [pytest.mark.guests, pytest.mark.xdist_group("guests")]

SIGNALLING = """
  $format handle: {type: OS::Heat::WaitConditionHandle}
  $format wait:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: $format handle}, timeout: 120}
  $format:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.tiny
      networks: [{network: private}]
      user_data_format: $format
      user_data:
        str_replace:
          params:
            $notify: {get_attr: [$format handle, curl_cli]}
          template: |
            #!/bin/sh
            echo "written by $(cat /proc/sys/kernel/hostname)" >/etc/written
            $notify --data-binary "{\\"status\\": \\"SUCCESS\\", \\"data\\": \\"$(cat /etc/written)\\"}"
"""


WEB = """
heat_template_version: 2018-08-31
resources:
  open:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
      - {protocol: tcp, port_range_min: 22, port_range_max: 22}
      - {protocol: tcp, port_range_min: 80, port_range_max: 80}
  key:
    type: OS::Nova::KeyPair
    properties: {name: web, save_private_key: true}
  port:
    type: OS::Neutron::Port
    properties: {network: private, security_groups: [{get_resource: open}]}
  address:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: public, port_id: {get_resource: port}}
  server:
    type: OS::Nova::Server
    properties:
      name: web
      image: cirros
      flavor: m1.tiny
      key_name: {get_resource: key}
      networks: [{port: {get_resource: port}}]
      user_data_format: RAW
      user_data: |
        #!/bin/sh
        mkdir -p /srv/www && cd /srv/www && echo "a page of a guest" >index.html
        exec python3 -m http.server 80 </dev/null >/dev/null 2>&1 &
outputs:
  key: {value: {get_attr: [key, private_key]}}
  address: {value: {get_attr: [address, floating_ip_address]}}
"""


def signalling(forms: list[str]) -> str:
    """A template with a server for each format of user data."""
    resources = "".join(SIGNALLING.replace("$format", form) for form in forms)
    outputs = "".join(f"  {form}: {{value: {{get_attr: [{form} wait, data]}}}}\n" for form in forms)
    return f"heat_template_version: 2018-08-31\nresources:{resources}outputs:\n{outputs}"


def test_user_data_writes_a_file_and_signals_a_wait_condition(guests: Shell, tmp_path: Path) -> None:
    """Without cloud-init, which the programs of this machine do not include, user data must be a script."""
    if not guest_image().missing:
        forms = ["RAW", "HEAT_CFNTOOLS", "SOFTWARE_CONFIG"]
    elif Path("/usr/bin/curl").exists():
        forms = ["RAW"]
    else:
        pytest.skip("Guests need curl in /usr/bin.")
    template = tmp_path / "guest.yaml"
    template.write_text(signalling(forms))

    guests.ok("deploy", "guest", "-t", str(template), "--yes", timeout=150)

    output = str(guests.ok("stack", "outputs", "guest", "-f", "json").json)
    consoles = list((guests.directory / "guests").glob("*/console.log"))
    assert len(consoles) == len(forms)
    for form in forms:
        assert f"written by guest-{form.lower().replace('_', '-')}-" in output
    assert all("has booted" in console.read_text() for console in consoles)
    guests.ok("delete", "guest", "--yes")
    until(lambda: not any(console.exists() for console in consoles))


class Web(NamedTuple):
    """A deployed server with a page: its user's shell, the address of this machine that leads to it, and a key."""

    user: Shell
    address: str
    key: Path


@pytest.fixture(scope="module")
def web(guests: Shell, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    place = tmp_path_factory.mktemp("web")
    template, key = place / "web.yaml", place / "key"
    template.write_text(WEB)
    guests.ok("deploy", "web", "-t", str(template), "--yes", timeout=150)
    outputs = {
        row["output_key"]: row["output_value"] for row in guests.ok("stack", "outputs", "web", "-f", "json").json
    }
    key.write_text(outputs["key"])
    key.chmod(0o600)
    yield Web(guests, outputs["address"].replace("172.", "127."), key)
    guests.ok("delete", "web", "--yes")


def test_a_page_is_reached_by_a_floating_ip(web: Web) -> None:
    deadline, page = time.monotonic() + 60, ""
    while not page and time.monotonic() < deadline:
        with suppress(OSError):
            page = urlopen(f"http://{web.address}:10080/", timeout=5).read().decode()
        time.sleep(0.1)
    assert page == "a page of a guest\n"


def test_ssh_proxy_command_reaches_floating_ip(web: Web, tmp_path: Path) -> None:
    program = tmp_path / "ssh"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{web.user.environment['PATH']}"}
    shown = web.user.ok("guests", "ssh", "web", "--identity", "key", "--", "ls", "-l", variables=path).out.split()
    assert shown[:2] == ["-p", "10022"]
    assert shown[-5:] == ["-i", "key", f"debian@{web.address}", "ls", "-l"]
    assert "no single server 'other'; `openstack server list` lists them" in web.user.fails("guests", "ssh", "other")


def test_a_shell_is_reached_by_a_floating_ip(web: Web) -> None:
    require_built_image()
    if shutil.which("ssh") is None:
        pytest.skip("There is no ssh on this machine.")
    words = ["guests", "ssh", "web", "--identity", str(web.key), "--", "sudo", "hostname"]
    deadline, output = time.monotonic() + 60, web.user.stoker(*words)
    while output.status != 0 and time.monotonic() < deadline:
        time.sleep(0.5)
        output = web.user.stoker(*words)
    assert output.out == "web\n", output.err
