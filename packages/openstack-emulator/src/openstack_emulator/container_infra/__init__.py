"""The service for container clusters, Magnum."""
