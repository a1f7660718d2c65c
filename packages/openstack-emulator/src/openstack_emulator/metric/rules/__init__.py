"""What the metric service decides."""
