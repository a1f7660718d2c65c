"""Project files: sets of stacks that are deployed together."""
