"""The load-balancer service over HTTP."""
