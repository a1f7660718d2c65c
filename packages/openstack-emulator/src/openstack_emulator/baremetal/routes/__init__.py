"""The bare-metal API."""
