"""What the alarming service decides."""
