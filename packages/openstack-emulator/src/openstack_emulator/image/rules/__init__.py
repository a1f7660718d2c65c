"""What the image service decides."""
