"""Programs that stand in for real ones."""

import sys
from pathlib import Path

# The kernel takes no interpreter with spaces in its path, so sh starts it; for Python the line is a
# string.
SHEBANG = f"""#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
"""


def script(path: Path, body: str) -> Path:
    """An executable Python script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SHEBANG + body)
    path.chmod(0o755)
    return path
