"""Blazar: leases of hosts, of servers with a size, and of floating IPs, each for a period of time."""
