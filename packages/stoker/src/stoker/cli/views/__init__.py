"""What commands show of stacks: plans, progress, failures, the state of a cluster."""
