"""Databases as a service: instances of database servers, clusters of them, and their backups."""
