"""Values of guests and their networks that would be commands of the programs that are run with them."""

from __future__ import annotations

import pytest

from openstack_emulator.core.guests.topology import Port, PortForwarding, Rule


@pytest.mark.parametrize("value", ["10.0.0.1\nflush ruleset", "10.0.0.1 drop", '"', "10.0.0.1;", "10.0.0.1\n"])
def test_commands_in_the_values_of_networks(value: str) -> None:
    """An address, MAC address or route contains a line feed and a command of `nft` or `ip`."""
    for made in (
        lambda: Rule(True, 4, remote=value),
        lambda: Port("p", "any server", "n", value, ()),
        lambda: Port("p", "s", "n", "fa:16:3e:00:00:01", ("10.0.0.5/24",), routes=((value, "10.0.0.1"),)),
        lambda: Port("p", "s", "n", "fa:16:3e:00:00:01", (), pairs=(("fa:16:3e:00:00:02", value),)),
        lambda: PortForwarding(value, "203.0.113.5", 80, "10.0.0.5", 80),
    ):
        with pytest.raises(ValueError, match="not one word"):
            made()
