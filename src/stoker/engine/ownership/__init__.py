"""Which engine runs which operation: leases, claims, takeovers."""
