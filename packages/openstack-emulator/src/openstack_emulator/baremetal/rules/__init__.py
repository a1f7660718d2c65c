"""What the bare-metal service decides."""
