"""The commands as clients of the orchestration service: login, requests, and the files that they send."""
