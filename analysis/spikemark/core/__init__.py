"""What everything else builds on: errors, files, places, processes."""
