"""The network and how it is laid out: descriptions, placements, schedules as lanes, pools of
neurons.
"""

#: Modules that other packages may import.
__all__ = ["description", "exchanges", "lanes", "placement_file", "presets"]
