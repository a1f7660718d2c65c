"""The block-storage service over HTTP."""
