"""What the load-balancer service decides."""
