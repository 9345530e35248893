"""Two results side by side: what differs, and whether the second one is slower; the history of a machine."""
