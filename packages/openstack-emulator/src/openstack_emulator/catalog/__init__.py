"""The emulated application catalog (Murano)."""
