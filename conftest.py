"""Settings of the repository's own tests."""

pytest_plugins = ["pytester"]
