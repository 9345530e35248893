"""The network and how it is laid out: descriptions, placements, schedules as lanes, pools of neurons."""
