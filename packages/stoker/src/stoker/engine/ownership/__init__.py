"""Ownership of operations by engines: leases, claims, takeovers."""
