"""The web console: pages for people, in front of the REST API.

Everything that a page shows or does is a request to the REST API with the user's own token, in the same process, so
that the API's checks of tokens, policy and input apply (`stoker.console.gateway`).
"""
