"""The interface between the synchronous API and the asynchronous engine: the contract and its transports."""

import warnings

# A library that oslo.messaging imports warns of this at every start, whether eventlet is used or not.
warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
