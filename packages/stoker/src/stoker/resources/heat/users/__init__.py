"""Users of the identity service that belong to resources, and what they may read."""
