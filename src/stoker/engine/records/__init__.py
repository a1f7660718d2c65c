"""A stack as it is recorded, in memory: inputs, resources, types, and views of them."""
