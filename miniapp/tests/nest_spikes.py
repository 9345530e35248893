"""Simulates a small network with NEST, for test_nest.py; runs in .venv-peers, without the project's
packages.

Reads from standard input {resolution_ms, simulate_ms, model, neurons: [parameters], synapses:
[[source, target, weight, delay_ms], ...]} and prints [[neuron, step in which it fired], ...] as
JSON.
"""

import json
import sys

import nest

given = json.load(sys.stdin)
h = given["resolution_ms"]
nest.ResetKernel()
nest.verbosity = nest.VerbosityLevel.ERROR
nest.resolution = h
neurons = [nest.Create(given["model"], params=parameters) for parameters in given["neurons"]]
for source, target, weight, delay in given["synapses"]:
    nest.Connect(neurons[source], neurons[target], "all_to_all", {"weight": weight, "delay": delay})
recorder = nest.Create("spike_recorder")
for neuron in neurons:
    nest.Connect(neuron, recorder)
nest.Simulate(given["simulate_ms"])
numbers = {neuron.global_id: number for number, neuron in enumerate(neurons)}
# NEST gives a spike the time at which its step ends.
fired = zip(recorder.events["senders"], recorder.events["times"], strict=True)
print("SPIKES", json.dumps([[numbers[int(i)], round(t / h) - 1] for i, t in fired]))
