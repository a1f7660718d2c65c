"""A template whose server runs: user data in a guest of the emulated cloud signals the template's wait condition.

`STOKER_TEST_GUEST_IMAGE` names an image that `stoker guests build` has built; by default, guests have the programs of
this machine, and no cloud-init.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
