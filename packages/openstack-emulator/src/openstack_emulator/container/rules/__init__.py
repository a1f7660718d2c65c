"""What the service for single containers decides."""
