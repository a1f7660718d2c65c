"""What a resource type's methods are entered with: the call, nested stacks, neighbours, configurations."""
