# SPDX-License-Identifier: Apache-2.0
"""Translates a large text with Dask's distributed and Goldcrest's wheel. See README.md in this folder.
Usage: translate_corpus.py MODEL INPUT OUTPUT [--scheduler ADDRESS] [--lines N] [--batch N]"""
import argparse
import itertools
import os
import pathlib

import distributed


def translate(model, lines, batch):
    """Runs in a worker, which keeps its model."""
    import goldcrest

    worker = distributed.get_worker()
    if getattr(worker, "goldcrest_path", None) != model:
        worker.goldcrest_model, worker.goldcrest_path = goldcrest.Model(model, batch=batch), model
    return worker.goldcrest_model.translate(lines)


def store(path, future):
    part = path.with_suffix(".part")
    part.write_text("".join(line + "\n" for line in future.result()))
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
    with distributed.Client(cluster) as client, open(a.input) as file:
        most = 4 * max(1, sum(client.nthreads().values()))  # blocks that wait in memory
        blocks = iter(lambda: [line.rstrip("\n") for line in itertools.islice(file, a.lines)], [])
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
    with open(a.output, "w") as out:
        out.writelines((folder / f"{i:09}").read_text() for i in range(1, n + 1))


if __name__ == "__main__":
    main()
