"""Values with interval, unit and kind; tables and other parts of a page; numbers as words."""
