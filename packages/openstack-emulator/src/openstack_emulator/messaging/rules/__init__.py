"""What the messaging service decides."""
