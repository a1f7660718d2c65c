"""What the key manager decides."""
