"""What the policy service decides."""
