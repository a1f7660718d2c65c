"""What the shared file systems service decides."""
