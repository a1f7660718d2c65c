"""The image service: Glance's v2 API."""
