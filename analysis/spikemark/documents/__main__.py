"""`make docs-figures`: says which stored results no longer hold, and writes the figures of docs/ anew.

python -m spikemark.documents                 check what is stored, rewrite the pages
python -m spikemark.documents prediction      compute these tables again first (minutes)
python -m spikemark.documents growth          measure these tables again first (minutes, nothing else running)
python -m spikemark.documents scaling         measure delivery, model growth over nodes again first (minutes)
python -m spikemark.documents faults          disturb every command again first (half an hour)
"""

import sys
from dataclasses import replace

from spikemark.core.errors import BadInput
from spikemark.studies import STUDIES

from . import inputs, modelled, pages, stored


def main(names: list[str]) -> int:
    """Exit status 2 for a name that no model has."""
    try:
        for name in names:
            modelled.store(name)
        for kept in filter(None, map(stored.load, STUDIES)):
            now = inputs.of(STUDIES[kept.name].experiment)
            changed = inputs.changed(kept.inputs, now)
            replace(kept, changed=changed).write()
            if changed:
                print(f"{kept.name}: not run again since {' and '.join(changed)} changed")
        for path in pages.rewrite():
            print(f"rewritten: {path}")
    except BadInput as error:
        print(f"documents: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
