"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# how long one example takes says more of the machine than of the code
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
