"""What the service for container clusters decides."""
