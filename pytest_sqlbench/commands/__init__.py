"""The subcommands of pytest-sqlbench, one module each."""
