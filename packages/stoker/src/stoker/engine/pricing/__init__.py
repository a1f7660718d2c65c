"""What a plan costs: the amounts that its resources take, with the operator's prices."""
