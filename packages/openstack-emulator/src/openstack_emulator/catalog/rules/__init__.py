"""What the application catalog decides."""
