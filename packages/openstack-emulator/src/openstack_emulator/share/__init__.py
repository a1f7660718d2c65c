"""The shared file systems service, Manila."""
