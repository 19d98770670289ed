#!/usr/bin/env python3
"""How whole runs of dtypemut scale, as a table in Markdown.

  scale.py BUILD [--large] [--repeat N]

BUILD is a build folder of the release preset. Graphs of 10^5 and 10^6 instructions (--large: also 4*10^6) are generated
into a temporary folder (TMPDIR; one in memory, such as /dev/shm, leaves the disk out of it). Each time is the best of N
(3), from the start of a process to its end. The yardsticks, in the same run: `floor` walks the document with RapidJSON
alone and copies it; `python` is json.load and json.dump, up to 10^6 instructions. A ratio is a time over that of
dtypemut run. Memory is the peak of a process as a multiple of the size of the document.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

PYTHON = "import json, sys; json.dump(json.load(open(sys.argv[1])), open(sys.argv[2], 'w'))"
MOST_FOR_PYTHON = 10**6


def measure(command, repeat):
    """The best time in seconds, and the peak memory in bytes, of a command that must succeed."""
    times, peak = [], 0
    for _ in range(repeat):
        begin = time.monotonic()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.monotonic() - begin)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
        peak = max(peak, usage.ru_maxrss * 1024)
    return min(times), peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("--large", action="store_true", help="also 4*10^6 instructions: about 1.1 GB of text")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    arguments = parser.parse_args()
    dtypemut = os.path.join(arguments.build, "dtypemut")
    tool = os.path.join(arguments.build, "tests", "scale_tool")
    sizes = [10**5, 10**6] + ([4 * 10**6] if arguments.large else [])

    print("| instructions | MB | command | seconds | MB/s | ratio | times as long as the graph before | memory |")
    print("|---:|---:|---|---:|---:|---:|---:|---:|")
    before = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            graph, out = (os.path.join(folder, name) for name in ("graph.json", "out.json"))
            with open(graph, "w") as text:
                subprocess.run([tool, "generate", str(size)], stdout=text, check=True)
            mb = os.path.getsize(graph) / 1e6
            run = [dtypemut, "run", graph, "--target", "trn2", "--dtype", "bf16", "--quiet", "-o", out]
            commands = {"run": run,
                        "run, one thread": run + ["--threads", "1"],
                        "run --policy joint": run + ["--policy", "joint"],
                        "verify": [dtypemut, "verify", graph, "--target", "trn2"],
                        "floor": [tool, "floor", graph, out]}
            if size <= MOST_FOR_PYTHON:
                commands["python"] = [sys.executable, "-c", PYTHON, graph, out]
            results = {name: measure(command, arguments.repeat) for name, command in commands.items()}
            for name, (seconds, peak) in results.items():
                growth = f"{seconds / before[name]:.2f}" if name in before else ""
                print(f"| {size:,} | {mb:.0f} | {name} | {seconds:.2f} | {mb / seconds:.0f} "
                      f"| {seconds / results['run'][0]:.2f} | {growth} | {peak / 1e6 / mb:.2f} |", flush=True)
            before = {name: seconds for name, (seconds, _) in results.items()}
            phases = subprocess.run([tool, "phases", graph], stdout=subprocess.PIPE, check=True, text=True).stdout
            print(f"\nPhases of a run on {size:,} instructions, in milliseconds:\n\n{phases}", flush=True)


if __name__ == "__main__":
    main()
