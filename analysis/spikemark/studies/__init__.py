"""Studies: published comparisons repeated here. Each is one module with a `STUDY` and is listed below."""

from . import (
    bath,
    delivery,
    energy_simula,
    exchange_music,
    exchange_shehzad,
    heterogeneity,
    interconnect,
    mam,
    networks,
    overlap,
    partition_du,
    routing,
    schedules,
    simulation_check,
    weak_scaling,
)
from .study import Study

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        exchange_shehzad.STUDY,
        exchange_music.STUDY,
        schedules.STUDY,
        networks.STUDY,
        energy_simula.STUDY,
        delivery.STUDY,
        simulation_check.STUDY,
        weak_scaling.STUDY,
        heterogeneity.STUDY,
        overlap.STUDY,
        interconnect.STUDY,
        mam.STUDY,
        partition_du.STUDY,
        routing.STUDY,
        bath.STUDY,
    )
}
