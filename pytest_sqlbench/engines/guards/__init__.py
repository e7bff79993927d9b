"""What runs inside the sandbox's process: the standard library and one engine, nothing else of this package."""
