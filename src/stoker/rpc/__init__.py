"""The one seam between the synchronous API and the asynchronous engine: the contract and its transports."""
