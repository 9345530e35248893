"""What everything else builds on: errors, files, places, processes."""

#: Modules that other packages may import.
__all__ = [
    "commands",
    "digests",
    "errors",
    "fields",
    "files",
    "places",
    "reading",
    "sha256",
    "yaml_file",
]
