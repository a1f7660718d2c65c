"""What the block-storage service decides."""
