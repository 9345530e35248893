"""Numbers of the papers."""
