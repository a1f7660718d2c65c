"""A template whose server runs: user data in a guest of the emulated cloud signals the template's wait condition.

`STOKER_TEST_GUEST_IMAGE` names an image that `stoker guests build` has built; by default, guests have the programs of
this machine, and no cloud-init.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.cli_shell import Shell
from tests.cli.guest_shell import IMAGE, shell_with_guests

pytestmark = [pytest.mark.slow, pytest.mark.guests]

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  wait:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, timeout: 120}
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.tiny
      networks: [{network: private}]
      user_data_format: $format
      user_data:
        str_replace:
          params:
            $notify: {get_attr: [handle, curl_cli]}
          template: |
            #!/bin/sh
            echo "written by $(cat /proc/sys/kernel/hostname)" >/etc/written
            $notify --data-binary "{\\"status\\": \\"SUCCESS\\", \\"data\\": \\"$(cat /etc/written)\\"}"
outputs:
  said: {value: {get_attr: [wait, data]}}
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
      networks: [{port: {get_resource: port}}]
      user_data_format: RAW
      user_data: |
        #!/bin/sh
        mkdir -p /srv/www && cd /srv/www && echo "a page of a guest" >index.html
        exec python3 -m http.server 80 </dev/null >/dev/null 2>&1 &
outputs:
  address: {value: {get_attr: [address, floating_ip_address]}}
"""


FORMATS = ["RAW"] if IMAGE == "host" else ["RAW", "HEAT_CFNTOOLS", "SOFTWARE_CONFIG"]
"""The formats of user data that the image understands: without cloud-init, only scripts."""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A user with a running Stoker whose emulated cloud has guests."""
    if IMAGE == "host" and not Path("/usr/bin/curl").exists():
        pytest.skip("Guests need curl in /usr/bin.")
    yield from shell_with_guests(tmp_path_factory.mktemp("guests"))


@pytest.mark.parametrize("form", FORMATS)
def test_user_data_writes_a_file_and_signals_a_wait_condition(user: Shell, tmp_path: Path, form: str) -> None:
    template = tmp_path / "guest.yaml"
    template.write_text(TEMPLATE.replace("$format", form))

    user.ok("deploy", "guest", "-t", str(template), "--yes", timeout=150)

    said = user.ok("stack", "outputs", "guest", "-f", "json").json
    assert "written by guest-server-" in str(said)
    [console] = (user.directory / "guests").glob("*/console.log")
    assert "has booted" in console.read_text()
    user.ok("delete", "guest", "--yes")
    assert not console.exists()


def test_a_page_and_a_shell_are_reached_by_a_floating_ip(user: Shell, tmp_path: Path) -> None:
    template, program = tmp_path / "web.yaml", tmp_path / "bin" / "ssh"
    template.write_text(WEB)
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    user.ok("deploy", "web", "-t", str(template), "--yes", timeout=150)
    [last] = re.findall(r"172\.(24\.4\.[0-9]+)", user.ok("stack", "outputs", "web", "-f", "json").out)
    local = f"127.{last}"

    deadline, page = time.monotonic() + 60, ""
    while not page and time.monotonic() < deadline:
        with suppress(OSError):
            page = urlopen(f"http://{local}:10080/", timeout=5).read().decode()
        time.sleep(0.1)
    assert page == "a page of a guest\n"

    path = {"PATH": f"{program.parent}:{user.environment['PATH']}"}
    shown = user.ok("guests", "ssh", "web", "--identity", "key", "--", "ls", "-l", variables=path).out.split()
    assert shown[:2] == ["-p", "10022"]
    assert shown[-5:] == ["-i", "key", f"debian@{local}", "ls", "-l"]
    assert "no single server 'other'; `openstack server list` lists them" in user.fails("guests", "ssh", "other")
    user.ok("delete", "web", "--yes")
