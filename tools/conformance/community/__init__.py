"""Templates of the community, whose servers run as guests."""
