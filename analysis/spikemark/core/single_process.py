"""The environment of a program with MPI that runs as a single process, without a launcher."""

from pathlib import Path

#: No daemon is started, and no network is looked for: a third of a second less.
ALONE = {
    "OMPI_MCA_ess_singleton_isolated": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self",
}
#: What says where Open MPI has the files of a run: version 4, the daemon of version 5, its PMIx.
SESSION_FOLDERS = ("OMPI_MCA_orte_tmpdir_base", "PRTE_MCA_prte_tmpdir_base", "PMIX_SERVER_TMPDIR")


def session_in(folder: Path) -> dict[str, str]:
    """Variables by which Open MPI has the files of a run in a folder of its own.

    All single processes without a daemon otherwise share one folder of their user (`jf.0`), which
    the first to end removes from under those that begin.

    Example:
        >>> session_in(Path("/tmp/mine"))["OMPI_MCA_orte_tmpdir_base"]
        '/tmp/mine'
    """
    return dict.fromkeys((*SESSION_FOLDERS, "TMPDIR"), str(folder))
