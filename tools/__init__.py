"""The programs of developers: checks, measurements, and comparisons with real services. See CONTRIBUTING.md."""
