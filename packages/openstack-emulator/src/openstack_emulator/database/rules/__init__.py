"""What the database service decides."""
