"""Software configurations, and their deployments to servers."""
