"""The choice of --mpi for srun."""

import pytest

from spikemark.core.errors import BadInput
from spikemark.launch import pmi

NEW = (
    "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\n"
    "specific pmix plugin versions available: pmix_v3,pmix_v4\n"
)
OLD = "srun: MPI types are...\nsrun: none\nsrun: pmi2\nsrun: openmpi\n"
OPEN_MPI = "\tlibm.so.6 => /lib/libm.so.6 (0x0)\n\tlibmpi.so.40 => /lib/libmpi.so.40 (0x0)\n"
MPICH = "\tlibmpich.so.12 => /lib/libmpich.so.12 (0x0)\n\tlibm.so.6 => /lib/libm.so.6 (0x0)\n"
PMIX = "\tlibpmix.so.2 => /lib/libpmix.so.2 (0x0)\n"
SCRIPT = "\tnot a dynamic executable\n"
LOADED = {
    "Open MPI": (OPEN_MPI, "pmix"),
    "Open MPI, which names PMIx too": (PMIX + OPEN_MPI, "pmix"),
    "MPICH": (MPICH, "pmi2"),
    "MPICH by its other name": ("\tlibmpi.so.12 => /opt/lib/libmpi.so.12 (0x0)\n", "pmi2"),
    "MPICH with PMIx": (MPICH + PMIX, "pmix"),
    "MPICH with PMIx, in the other order": (PMIX + MPICH, "pmix"),
    "Cray MPICH": ("\tlibmpi_gnu_123.so.12 => /opt/cray/libmpi_gnu_123.so.12 (0x0)\n", "pmi2"),
    "a script": (SCRIPT, "pmix"),
}


@pytest.fixture
def srun(monkeypatch):
    """Returns a function that says what srun offers and what the program loads."""
    monkeypatch.delenv(pmi.VARIABLE, raising=False)

    def says(offered: str, loaded: str) -> None:
        monkeypatch.setattr(pmi, "_said", lambda *command: offered if command[0] == "srun" else loaded)

    return says


def test_what_is_offered_is_read_from_old_and_new_releases():
    assert pmi.offers(NEW) == {"pmix", "none", "pmi2", "pmix_v3", "pmix_v4"}
    assert pmi.offers(OLD) == {"none", "pmi2", "openmpi"}


@pytest.mark.parametrize("case", LOADED)
def test_the_library_of_the_program_decides(case, srun):
    loaded, wanted = LOADED[case]
    srun(NEW, loaded)
    assert pmi.option("miniapp") == [f"--mpi={wanted}"]


def test_a_cray_takes_its_own_where_it_is_offered(srun):
    srun(NEW + "\tcray_shasta\n", LOADED["Cray MPICH"][0])
    assert pmi.option("miniapp") == ["--mpi=cray_shasta"]


def test_nothing_starts_where_each_rank_would_be_alone(srun):
    srun(OLD, OPEN_MPI)
    with pytest.raises(
        BadInput, match=r"linked with Open MPI; allowed: pmix, but .* offers none, openmpi, pmi2"
    ):
        pmi.option("miniapp")


def test_a_user_may_know_better(srun, monkeypatch):
    srun(NEW, OPEN_MPI)
    monkeypatch.setenv(pmi.VARIABLE, "pmix_v3")
    assert pmi.option("miniapp") == ["--mpi=pmix_v3"]
    monkeypatch.setenv(pmi.VARIABLE, "pmi7")
    with pytest.raises(BadInput, match=f"{pmi.VARIABLE}: 'pmi7' is not allowed: srun --mpi=list offers none"):
        pmi.option("miniapp")


def test_an_unknown_library_without_an_offer_is_left_to_the_site(srun):
    srun("", SCRIPT)
    assert pmi.option("miniapp") == []
