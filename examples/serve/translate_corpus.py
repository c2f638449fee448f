# SPDX-License-Identifier: Apache-2.0
"""Translates a large text with Dask's distributed and goldcrest-translate. See README.md in this folder.
Usage: translate_corpus.py MODEL INPUT OUTPUT [--scheduler ADDRESS] [--lines N] [--batch N]"""
import argparse
import itertools
import os
import pathlib
import subprocess

import distributed


def translate(model, lines, batch):
    """Runs in a worker, by the program of the wheel or of another package. The file of a model is ready at once."""
    run = subprocess.run(["goldcrest-translate", model, f"--batch={batch}"], input=b"".join(lines), capture_output=True)
    if run.returncode == 0:
        return run.stdout
    raise RuntimeError(f"goldcrest-translate ended with {run.returncode}: {run.stderr.decode()}")


def store(path, future):
    part = path.with_suffix(".part")
    part.write_bytes(future.result())
    os.replace(part, path)


def main():
    parser = argparse.ArgumentParser()
    for place in ("model", "input", "output"):
        parser.add_argument(place, type=pathlib.Path)
    parser.add_argument("--scheduler")
    for option, usual in (("--lines", 1000), ("--batch", 8)):
        parser.add_argument(option, type=int, default=usual)
    a = parser.parse_args()
    folder = a.output.with_suffix(f".{a.lines}")
    folder.mkdir(exist_ok=True)
    # An engine takes one text after another: a worker needs a thread only.
    cluster = a.scheduler or distributed.LocalCluster(threads_per_worker=1, dashboard_address=None)
    with distributed.Client(cluster) as client, open(a.input, "rb") as file:
        most = 4 * max(1, sum(client.nthreads().values()))  # blocks that wait in memory
        blocks = iter(lambda: list(itertools.islice(file, a.lines)), [])
        running, names, n = distributed.as_completed(), {}, 0
        for n, lines in enumerate(blocks, 1):
            path = folder / f"{n:09}"
            if not path.exists():
                future = client.submit(translate, str(a.model.resolve()), lines, a.batch, pure=False)
                names[future] = path
                running.add(future)
            while running.count() >= most:
                done = next(running)
                store(names.pop(done), done)
        for done in running:
            store(names.pop(done), done)
    with open(a.output, "wb") as out:
        out.writelines((folder / f"{i:09}").read_bytes() for i in range(1, n + 1))


if __name__ == "__main__":
    main()
