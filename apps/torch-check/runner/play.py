"""Plays checks in workers. What a worker that ends early or hangs was at is known by its report."""

import os
import signal
import subprocess
import time

LIMIT = 150  # seconds for one check
START = 120  # seconds until the first begins
ENDS = 60  # seconds for a process to end
# Beyond them a process that works is given more, up to as many seconds of processor time: the machine is busy.
WINDOW = 30
WORKS = 1  # seconds of processor time in each window


def processor_time(group):
    """Seconds that the processes of a group have used so far."""
    ticks = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(words[2]) == group:
            ticks += sum(map(int, words[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Worker:
    """One process group that plays names in order."""

    def __init__(self, command, names, environment, stem):
        self.report, self.log = f"{stem}.report", f"{stem}.log"
        open(self.report, "w").close()
        # What programs leave in the folder they run in, as profiles do.
        os.makedirs(f"{stem}.folder", exist_ok=True)
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [*command, "-m", "torchcheck.worker", self.report, *names],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=f"{stem}.folder",
                env=environment,
                start_new_session=True,
            )
        self.results, self.at, self.finished, self.read = {}, None, False, 0
        self.since, self.limit, self.used = time.monotonic(), START, 0.0

    def look(self):
        """Reads what was reported since."""
        with open(self.report) as file:
            file.seek(self.read)
            for line in file.read().splitlines(keepends=True):
                if not line.endswith("\n"):
                    break
                self.read += len(line.encode())
                self.take(line.rstrip("\n").split("\t"))

    def take(self, words):
        self.since, self.used = time.monotonic(), processor_time(self.process.pid)
        if words[0] == "begin":
            self.at, self.limit = words[1], LIMIT
        elif words[0] == "end":
            self.results[words[1]] = tuple(words[2:4])
            self.last, self.at = words[1], None
        else:
            self.finished, self.limit = True, ENDS

    def end(self):
        """What is left of the group goes, also children of checks."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self.process.wait()

    def is_late(self):
        """It has had its time, and either it does nothing or it was busy all the while."""
        if time.monotonic() - self.since < self.limit:
            return False
        before = processor_time(self.process.pid)
        begun = self.read
        until = time.monotonic() + WINDOW
        while time.monotonic() < until and self.process.poll() is None and self.read == begun:
            time.sleep(0.2)
            self.look()
        if self.process.poll() is not None or self.read != begun:
            return False
        used = processor_time(self.process.pid)
        return used - before < WORKS or used - self.used > self.limit

    def run(self):
        """Results by name; one of a check that did not end is a crash or a hang."""
        while self.process.poll() is None and not self.is_late():
            time.sleep(0.2)
            self.look()
        hung = self.process.poll() is None
        code = self.end()
        self.look()
        if hung:
            self.blame("hang", f"nothing in {self.limit} s")
        elif code != 0 or not self.finished:
            self.blame("crash", f"signal {-code}" if code < 0 else f"code {code}")
        return self.results

    def blame(self, result, why):
        if self.at is not None:
            self.results[self.at] = (result, why)
        elif self.finished:
            self.results[self.last] = (result, f"{why} at the end of the process")
        else:
            raise SystemExit(f"a worker that had begun no check: {result}, {why}; see {self.log}")


def play(command, names, environment, stem):
    """Results of all names, in as many processes as it takes."""
    left, results = list(names), {}
    while left:
        found = Worker(command, left, environment, stem).run()
        results.update(found)
        left = [name for name in left if name not in results]
    return results
