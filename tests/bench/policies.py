#!/usr/bin/env python3
"""What the two policies make of graphs: the table of the README, in Markdown.

  policies.py DTYPEMUT GRAPH.json...

Runs `dtypemut run --target trn2 --dtype bf16` edge by edge and jointly on each graph; bytes are those of the constants
that are read, matmuls those whose operands are all narrower than float32 and float32r.
"""

import json
import os
import subprocess
import sys
import tempfile

FULL_PRECISION = {"float32", "float32r"}
MATMULS = {"MatMulOp", "MatMulSparseOp"}


def run(command, graph, policy, folder):
    out, stats = (os.path.join(folder, name) for name in ("out.json", "stats.json"))
    subprocess.run(
        [command, "run", graph, "--target", "trn2", "--dtype", "bf16", "--policy", policy, "-o", out, "--stats", stats,
         "--quiet"],
        check=True, stderr=subprocess.DEVNULL)
    with open(out) as document, open(stats) as report:
        return json.load(document), json.load(report)


def matmuls(document):
    """How many there are, and how many have narrow operands only."""
    dtypes = {tensor["name"]: tensor["dtype"] for tensor in document["tensors"]}
    results = {instruction["name"]: instruction.get("dtype") for instruction in document["instructions"]}
    found = narrow = 0
    for instruction in document["instructions"]:
        if instruction["op"] not in MATMULS:
            continue
        found += 1
        read = [operand.get("dtype") or dtypes.get(operand.get("tensor")) or results.get(operand.get("inst"))
                for operand in instruction["operands"] if "imm" not in operand]
        narrow += not any(dtype in FULL_PRECISION for dtype in read)
    return found, narrow


def main():
    command, graphs = sys.argv[1], sys.argv[2:]
    print("| graph | constants, bytes | edge | joint | matmuls | narrow, edge | narrow, joint |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    sums = [0] * 6
    for graph in graphs:
        with tempfile.TemporaryDirectory() as folder:
            edge, edge_report = run(command, graph, "edge", folder)
            joint, joint_report = run(command, graph, "joint", folder)
        found, narrow_edge = matmuls(edge)
        row = [edge_report["const_bytes"]["before"], edge_report["const_bytes"]["after"],
               joint_report["const_bytes"]["after"], found, narrow_edge, matmuls(joint)[1]]
        sums = [a + b for a, b in zip(sums, row)]
        name = os.path.basename(graph).removesuffix(".json")
        print(f"| {name} | " + " | ".join(f"{number:,}" for number in row) + " |")
    print("| **all** | " + " | ".join(f"**{number:,}**" for number in sums) + " |")


if __name__ == "__main__":
    main()
