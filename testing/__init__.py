"""What tests and the programs of `tools` share: engines and servers that run, the simulator, recorded answers."""

import os

# Libraries of OpenStack import eventlet, which otherwise imports modules of dnspython a second time in this process.
os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")
