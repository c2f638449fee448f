# SPDX-License-Identifier: Apache-2.0
"""The figures of a run. Each is saved at once, so that an interrupted run continues where it stopped."""

import json
import os
import pathlib
import time
from collections.abc import Callable


class Results:
    """Figures by name in sections. `conditions` must be those of the run that the file came from."""

    def __init__(self, path: pathlib.Path | None, conditions: dict):
        self.path = path
        self.content = {"date": time.strftime("%Y-%m-%d"), "conditions": conditions,
                        "load_averages": {"first": os.getloadavg()}}
        if path and path.exists():
            self.content = json.loads(path.read_text(encoding="utf-8"))
            check_conditions(path, self.content["conditions"], conditions)
        self.date, self.conditions, self.load_averages = map(self.content.get, ("date", "conditions", "load_averages"))

    def section(self, name: str) -> dict[str, dict]:
        return self.content.setdefault(name, {})

    def has(self, section: str, name: str) -> bool:
        return name in self.section(section)

    def measure(self, section: str, name: str, figures: Callable[[], dict]) -> dict:
        """Returns the saved figures, or measures and saves new ones."""
        if not self.has(section, name):
            self.section(section)[name] = figures()
            self.load_averages["last"] = os.getloadavg()
            self._save()
        return self.section(section)[name]

    def _save(self) -> None:
        if not self.path:
            return
        unfinished = self.path.with_name(self.path.name + ".part")
        unfinished.write_text(json.dumps(self.content, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(self.path)


def check_conditions(path: pathlib.Path, found: dict, expected: dict) -> None:
    for key in sorted(found.keys() | expected.keys()):
        if found.get(key) != expected.get(key):
            raise SystemExit(f"{path}: {key}: its figures were taken with {found.get(key)!r}, this run has "
                             f"{expected.get(key)!r}; name another file or go back to those conditions")
