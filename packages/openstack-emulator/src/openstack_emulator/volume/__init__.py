"""Block storage: what Cinder keeps and how it behaves."""
