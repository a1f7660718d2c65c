"""What the DNS service decides."""
