"""What a reader does with a folder that it must not do."""

import os
import warnings
from pathlib import Path

from reader import Reader
from results import plain

from spikemark.core.errors import BadInput
from spikemark.core.reading import encodable


def changed_files(reader: Reader, folder: Path) -> list[Path]:
    """The files of a folder that may be changed."""
    return sorted(path for path in folder.glob(reader.files) if path.is_file())


def complaint(reader: Reader, folder: Path) -> str | None:
    """What a reader does with a folder that it must not do; None if all is well."""
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            plain(reader.read(folder))
        if printed := [one for one in told if issubclass(one.category, RuntimeWarning | UserWarning)]:
            return f"a warning of {Path(printed[0].filename).name}:{printed[0].lineno}: {printed[0].message}"
    except BadInput as error:
        line = str(error)
        if not line.strip() or len(line.splitlines()) > 1:
            return f"a refusal that is not one line: {line!r}"
        if not encodable(line):
            return f"a refusal that is not UTF-8: {line!r}"
        return None
    except (KeyboardInterrupt, SystemExit):
        raise
    except OSError as error:
        return None if error.filename is not None else f"{type(error).__name__}: {error}"
    except BaseException as error:
        return _where(error)
    return None


def _where(error: BaseException) -> str:
    """The kind of an exception, and the last place in the package that it came through."""
    at, place = error.__traceback__, ""
    while at is not None:
        code = at.tb_frame.f_code
        if "spikemark" in code.co_filename:
            place = f"{Path(code.co_filename).name}:{at.tb_lineno} {code.co_name}"
        at = at.tb_next
    return f"{type(error).__name__} in {place}: {' '.join(str(error).split())[:200]}"


def apart(reader: Reader, folder: Path) -> str | None:
    """The same in a process of its own, whose death by a signal is a complaint."""
    into, out_of = os.pipe()[::-1]
    child = os.fork()
    if child == 0:
        try:
            os.close(out_of)
            os.write(into, (complaint(reader, folder) or "").encode(errors="replace")[:4000])
        finally:
            os._exit(0)
    os.close(into)
    said = b""
    while part := os.read(out_of, 4096):
        said += part
    os.close(out_of)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return f"ended by signal {-status}"
    return said.decode(errors="replace") or None
