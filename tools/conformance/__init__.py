"""Other people's tests, run against an embedded Stoker: see docs/reference/conformance.md."""
