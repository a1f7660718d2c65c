"""Groups of members: how many there are, how they change in batches, and the policies that scale them."""
