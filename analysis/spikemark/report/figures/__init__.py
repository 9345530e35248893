"""Drawing only: every figure takes prepared numbers and returns inline SVG."""
