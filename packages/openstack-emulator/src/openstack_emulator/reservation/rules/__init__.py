"""What the reservation service decides."""
