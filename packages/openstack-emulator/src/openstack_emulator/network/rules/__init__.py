"""What the network service decides about its records."""
