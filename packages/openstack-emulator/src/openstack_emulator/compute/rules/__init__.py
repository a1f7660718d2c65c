"""What the compute service decides about its records."""
