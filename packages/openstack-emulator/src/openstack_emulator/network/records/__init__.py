"""What the network service keeps: a dataclass for each kind of record."""
