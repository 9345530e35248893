"""Nodes with accelerators, such as GPUs: their profiles hold the group `accelerator`.

Predictions are of CPU cores, and assume unknown values from the profiles of CPU nodes alone. So nothing is
assumed of accelerated nodes, and nothing is assumed from them.
"""

from spikemark.core.errors import BadInput

KEY = "accelerator"
GROUP = f"{KEY}."
DEVICES, DEVICE = "accelerator.devices", "accelerator.name"


def is_accelerated(profile) -> bool:
    """Does a profile state anything of accelerators?"""
    return any(path.startswith(GROUP) for path in profile.values)


def refuse(profile) -> None:
    """Raises BadInput for an accelerated node, where only CPU cores can be predicted."""
    if is_accelerated(profile):
        raise BadInput(
            f"machine {profile.name} has accelerators; predictions and simulations are of CPU cores."
            " `spikemark compare` shows what was published of it"
        )
