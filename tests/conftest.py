"""What all tests share."""

from __future__ import annotations

import signal
from contextlib import suppress

from hypothesis import settings

# how long one example takes says more of the machine than of the code
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# a shell that starts a program in the background lets it ignore Ctrl-C, and all that it starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.default_int_handler)
