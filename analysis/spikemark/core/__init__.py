"""What everything rests on: errors, files, places, processes."""
