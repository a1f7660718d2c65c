"""The load-balancer service."""
