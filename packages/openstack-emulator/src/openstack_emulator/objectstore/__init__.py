"""The object store: Swift's v1 API."""
