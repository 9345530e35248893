# ruff: noqa: F821, RUF012 (ReFrame provides variable, run_before and sanity_function inside
# classes)
"""ReFrame test: the smoke experiment of Spikemark, with its figures of merit.

    reframe -c workflows/clusters/reframe/smoke.py -r --performance-report

The command `spikemark` must be in the path where the job runs, and the mini-app must lie in build/
of the checkout or be named by SPIKEMARK_MINIAPP. `-S modules=NAME,NAME` loads modules of the site,
`-S experiment=NAME` takes another experiment. The job asks for two tasks; `spikemark sweep` starts
the runs in it, one after another.
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher

FILE = "figures.jsonl"


@rfm.simple_test
class SpikemarkSmoke(rfm.RunOnlyRegressionTest):
    """Passes if all runs end and all runs of a network find the same spikes.

    It reports every known figure.
    """

    descr = "Spikemark: three schedules on a tiny network"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    experiment = variable(str, value="smoke")
    num_tasks = 2
    num_tasks_per_node = 2
    time_limit = "10m"
    executable = "spikemark"
    tags = {"spikemark"}

    @run_before("run")
    def sweep_in_the_job(self):
        """Runs the sweep without the launcher of the site: the sweep starts the ranks itself."""
        self.job.launcher = getlauncher("local")()
        self.executable_opts = [
            "sweep",
            self.experiment,
            "--machine",
            "here",
            "--results",
            "results",
        ]
        folder = f"results/{self.experiment}/here"
        self.postrun_cmds = [f"spikemark export {folder} --format figures --output {FILE}"]
        self.keep_files = [f"{folder}/report.html", FILE]

    @sanity_function
    def all_runs_agree(self):
        """Passes if no command failed, and there are figures of runs with equal checksums."""
        lines = self.figures()
        errors = Path(self.stagedir, self.stderr.evaluate()).read_text().splitlines()
        failures = [line for line in errors if line.startswith(("failed: ", "spikemark: "))]
        checks = [
            sn.assert_false(failures, "; ".join(failures)),
            sn.assert_true(lines, "there are no figures of merit"),
        ]
        for line in lines:
            checks.append(sn.assert_eq(line["checksums_agree"], True, line["configuration"]))
        return sn.all(checks)

    @run_before("performance")
    def name_figures(self):
        """Makes a variable of each figure of each configuration that is not null."""
        for line in self.figures():
            for name, figure in line.items():
                if isinstance(figure, dict) and figure.get("value") is not None:
                    key = f"{line['configuration'].replace(' ', '_')}.{name}"
                    value, unit = sn.defer(figure["value"]), figure.get("unit", "1")
                    self.perf_variables[key] = sn.make_performance_function(value, unit)

    def figures(self):
        """Returns the lines that `spikemark export` has written; none if it has not written any."""
        path = Path(self.stagedir, FILE)
        if not path.is_file():
            return []
        return [json.loads(line) for line in path.read_text().splitlines()]
