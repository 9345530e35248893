"""Panels of `spikemark --help`, in the order of a newcomer's work."""

ANSWER = "Answer a question"
RUN = "Run and report"
DESCRIBE = "Describe networks and machines"
MEASURE = "Measure this machine"
RECORDS = "Work with records"
