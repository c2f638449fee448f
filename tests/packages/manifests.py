#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the manifests of the generated packages: each parses, has the fields that its ecosystem asks for, and names all
sources and only files that are there. With --kconfig, kconfiglib reads the options too. GOLDCREST_PACK_XSD names a
PACK.xsd, against which xmllint checks the CMSIS-Pack. A sentence says what is not checked because a module or a program
is missing; without kconfiglib --kconfig leaves with 77.
Usage: manifests.py PACKAGES [--kconfig]
"""

import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

read = functools.partial(pathlib.Path.read_text, encoding="utf-8")
errors = []
skipped = []
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(goldcrest VERSION ([0-9.]+)", read(REPOSITORY / "CMakeLists.txt")).group(1)
FEATURES = read(REPOSITORY / "engine/base/features-inl.h")
OPTIONS = re.findall(r'^GOLDCREST_OPTION\(\w+, (\w+), "[^"]+"\)$', FEATURES, re.MULTILINE)
# The kernel tables that only builds for an operating system have.
TABLES = re.findall(r'^  "\w+ (kernels/\S+)', read(REPOSITORY / "engine/kernels/tables.cmake"), re.MULTILINE)
# The file formats' own rules: Zephyr's scripts/schemas/module-schema.yaml and scripts/zephyr_module.py.
MODULE_FIELDS = {"name", "package-managers", "build", "tests", "samples", "boards", "blobs", "security", "runners"}
BUILD_FIELDS = {"cmake", "kconfig", "cmake-ext", "kconfig-ext", "depends", "settings", "sysbuild-cmake",
                "sysbuild-kconfig", "sysbuild-cmake-ext", "sysbuild-kconfig-ext"}


def check(condition, message):
    if not condition:
        errors.append(message)


def read_yaml(path):
    try:
        import yaml
    except ImportError:
        skipped.append(f"{path.name} was not read, because PyYAML is not installed")
        return None
    return yaml.safe_load(read(path))


def check_sources(name, folder, named):
    """`named`: the sources that a manifest names, relative to the package. A package needs what the kernels of an
    operating system's machine do not have for themselves."""
    found = {path.relative_to(folder).as_posix() for path in (folder / "source").rglob("*.cc")}
    needed = found - {"source/" + path for path in TABLES} - {"source/kernels/select_runtime.cc"}
    named = list(named)
    check(len(set(named)) == len(named), f"{name}: a source is named twice")
    check(not set(named) - found, f"{name}: names {sorted(set(named) - found)}, which are not there")
    check(not needed - set(named), f"{name}: does not name {sorted(needed - set(named))}")
    # Objects of Arduino and of some IDEs are named after the file only.
    names = [pathlib.PurePath(path).name for path in named]
    check(len(set(names)) == len(names), f"{name}: two sources have one name")


def cmake_sources(folder, place):
    text = read(folder / place / "CMakeLists.txt")
    paths = re.findall(r'"\$\{CMAKE_CURRENT_LIST_DIR\}/([^"]+\.cc)"', text)
    for option in OPTIONS:
        check(option in text, f"{folder}: CMakeLists.txt does not know {option}")
    return [os.path.normpath(os.path.join(place, path)) for path in paths]


def check_example(folder, files):
    for file in files:
        check((folder / file).is_file(), f"{folder / file} is missing")
    for file in [path for path in folder.rglob("*") if path.suffix in (".c", ".ino", ".cpp")]:
        for included in re.findall(r'#include "((?:model|pronounce)[^"]*)"', read(file)):
            check((file.parent / included).is_file(), f"{file} includes {included}, which is missing")


def check_esp_idf(folder):
    check_sources("esp-idf", folder, cmake_sources(folder, ""))
    check_example(folder / "examples/pronounce", ["CMakeLists.txt", "partitions.csv", "sdkconfig.defaults"])
    main = folder / "examples/pronounce/main"
    check_example(main, ["CMakeLists.txt", "Kconfig.projbuild", "main.c", "g2p_small.gcst"])
    manifest = read_yaml(folder / "idf_component.yml")
    if manifest is None:
        return
    known = {"version", "description", "url", "license", "tags", "dependencies"}
    check(set(manifest) <= known, f"idf_component.yml: unknown fields {set(manifest) - known}")
    check(manifest.get("version") == VERSION, f"idf_component.yml: version {manifest.get('version')}")
    check(manifest.get("license") == "Apache-2.0", "idf_component.yml: license")


def check_pico_sdk(folder):
    check_sources("pico-sdk", folder, cmake_sources(folder, ""))
    check_example(folder / "examples/pronounce", ["CMakeLists.txt", "main.c"])


def check_zephyr(folder):
    check_sources("zephyr", folder, cmake_sources(folder, "zephyr"))
    check_example(folder / "samples/pronounce", ["CMakeLists.txt", "prj.conf", "sample.yaml", "src/main.c"])
    manifest = read_yaml(folder / "zephyr/module.yml")
    if manifest is None:
        return
    build = manifest["build"]
    check(set(manifest) <= MODULE_FIELDS and set(build) <= BUILD_FIELDS, f"module.yml: unknown fields in {manifest}")
    check(all(isinstance(value, str) for value in [manifest["name"], *build.values()]), "module.yml: no texts")
    check((folder / build["cmake"] / "CMakeLists.txt").is_file(), "module.yml: build.cmake")
    check((folder / build["kconfig"]).is_file(), "module.yml: build.kconfig")
    for samples in manifest["samples"]:
        check(list((folder / samples).glob("*/sample.yaml")), f"module.yml: no samples in {samples}")
    sample = read_yaml(folder / "samples/pronounce/sample.yaml")
    check(set(sample) == {"sample", "tests"} and sample["sample"]["name"], "sample.yaml")


def check_flat(folder):
    """Arduino's layout: every file of src/ is compiled, and src/ is the include folder."""
    src = folder / "src"
    check(not list(src.rglob("*.cc")), f"{folder}: arduino-builder leaves out .cc")
    named = ["source/" + path.relative_to(src).with_suffix(".cc").as_posix() for path in src.rglob("*.cpp")]
    check_sources(folder.name, folder.parents[1] / "zephyr/goldcrest", named)
    check(not any("/x86/" in path or "/arm/" in path for path in named), f"{folder}: kernels of operating systems")
    for file in [path for path in src.rglob("*") if path.suffix in (".cpp", ".h")]:
        for included in re.findall(r'^#include "([^"]+)"', read(file), re.MULTILINE):
            is_there = (src / included).is_file() or (file.parent / included).is_file()
            check(is_there or included == "goldcrest/xnnpack.h", f"{file} includes {included}, which is missing")


def check_arduino(folder):
    check_flat(folder)
    check_example(folder / "examples/pronounce", ["pronounce.ino"])
    lines = read(folder / "library.properties").splitlines()
    fields = dict(line.split("=", 1) for line in lines)
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    check(needed <= set(fields), f"library.properties: no {needed - set(fields)}")
    check(len(fields) == len(lines), "library.properties: a field is there twice")
    name = fields["name"]
    check(re.fullmatch(r"[A-Za-z][A-Za-z0-9 _.-]{0,62}", name) and name == folder.name, "library.properties: name")
    check(fields["version"] == VERSION, f"library.properties: version {fields['version']}")
    check(fields["category"] in ("Communication", "Data Processing", "Data Storage", "Device Control", "Display",
          "Other", "Sensors", "Signal Input/Output", "Timing", "Uncategorized"), "library.properties: category")
    for header in fields["includes"].split(","):
        check((folder / "src" / header).is_file(), f"library.properties: includes {header}")


def check_platformio(folder):
    check_flat(folder)
    for file in (folder / "src").rglob("*.*"):
        other = folder.parents[1] / "arduino/Goldcrest" / file.relative_to(folder)
        check(other.is_file() and file.read_bytes() == other.read_bytes(), f"{file}: other than Arduino's")
    manifest = json.loads(read(folder / "library.json"))
    known = {"$schema", "name", "version", "description", "keywords", "repository", "authors", "license", "frameworks",
             "platforms", "headers", "build", "examples"}
    check(set(manifest) <= known, f"library.json: unknown fields {set(manifest) - known}")
    check(manifest["version"] == VERSION and manifest["license"] == "Apache-2.0", "library.json: version or license")
    check((folder / "src" / manifest["headers"]).is_file(), "library.json: headers")
    for example in manifest["examples"]:
        check_example(folder / example["base"], example["files"])


def check_cmsis_pack(folder):
    path = folder / "Goldcrest.goldcrest.pdsc"
    root = ET.parse(path).getroot()
    text = {child.tag: child.text for child in root}
    check(f"{text['vendor']}.{text['name']}.pdsc" == path.name, "pdsc: vendor and name are not the file's")
    check(root.find("releases/release").get("version") == VERSION, "pdsc: version")
    check((folder / text["license"]).is_file(), "pdsc: license")
    files = list(root.iter("file"))
    for file in files:
        check((folder / file.get("name")).exists(), f"pdsc: names {file.get('name')}, which is not there")
    check_sources("cmsis-pack", folder, [file.get("name") for file in files if file.get("category") == "sourceCpp"])
    conditions = {condition.get("id") for condition in root.iter("condition")}
    parts = {component.get("Csub") for component in root.iter("component")}
    check(parts == {"Engine", *OPTIONS}, f"pdsc: components {parts}")
    for component in root.iter("component"):
        check(component.get("condition") in conditions, f"pdsc: no condition {component.get('condition')}")
    for needed in root.iter("require"):
        check(needed.get("Csub") in parts, f"pdsc: a condition requires {needed.get('Csub')}")
    xsd = os.environ.get("GOLDCREST_PACK_XSD")
    if not xsd or not shutil.which("xmllint"):
        skipped.append("PACK.xsd: not checked, because GOLDCREST_PACK_XSD names none or xmllint is not installed")
    elif subprocess.run(["xmllint", "--noout", "--schema", xsd, path], check=False).returncode:
        errors.append("pdsc: not valid")


def check_kconfig(packages):
    """Reads each file with every choice of the options that have relations, and with each pair of the others. The
    values are those of the options that CMake knows."""
    try:
        import kconfiglib
    except ImportError:
        print("manifests.py: skipped: kconfiglib is not installed")
        sys.exit("\n".join(errors) or 77)
    texts = {"esp-idf": read(packages / "esp-idf/goldcrest/Kconfig"),
             "zephyr": 'config CPP\n\tbool "C++"\n\n' + read(packages / "zephyr/goldcrest/zephyr/Kconfig")}
    for ecosystem, text in texts.items():
        path = packages / f"{ecosystem}.Kconfig"
        path.write_text(text, encoding="utf-8")
        kconfig = kconfiglib.Kconfig(path.as_posix(), warn_to_stderr=False)
        path.unlink()
        check(not kconfig.warnings, f"{ecosystem}: {kconfig.warnings}")
        defined = [symbol.name for symbol in kconfig.unique_defined_syms if symbol.name.startswith("GOLDCREST_")]
        check(defined == OPTIONS, f"{ecosystem}: other options than base/features-inl.h")
        # As engine/README.md has them: an option turns others on.
        turns_on = {"SPEECH": ("LAYERS", "PROMPT", "ACCURACY"), "ADDED_WORDS": ("TEXT",)}
        related = ["GOLDCREST_" + name for names in turns_on.items() for name in (names[0], *names[1])]
        choices = [set(chosen) for n in range(len(related) + 1) for chosen in itertools.combinations(related, n)]
        choices += [set(pair) for pair in itertools.combinations(OPTIONS, 2)] + [set(OPTIONS)]
        for chosen in choices:
            for name in OPTIONS:
                kconfig.syms[name].set_value(2 if name in chosen else 0)
            if "GOLDCREST" in kconfig.syms:
                kconfig.syms["GOLDCREST"].set_value(2)
            expected = set(chosen)
            for name, others in turns_on.items():
                if "GOLDCREST_" + name in expected:
                    expected |= {"GOLDCREST_" + other for other in others}
            found = {name for name in OPTIONS if kconfig.syms[name].str_value == "y"}
            check(found == expected, f"{ecosystem}: {sorted(chosen)} gives {sorted(found)}")
        print(f"manifests.py: {ecosystem}: {len(choices)} choices of {len(OPTIONS)} options")


def main():
    packages = pathlib.Path(sys.argv[1])
    check(len(OPTIONS) > 5 and len(TABLES) > 5, "features-inl.h or tables.cmake has another form")
    for folder in map(packages.joinpath, ("esp-idf/goldcrest", "pico-sdk/goldcrest", "zephyr/goldcrest",
                                          "arduino/Goldcrest", "platformio/goldcrest", "cmsis-pack/goldcrest")):
        globals()["check_" + folder.parent.name.replace("-", "_")](folder)
        page = read(folder / "README.md")
        check(page.count("\n") <= 45, f"{folder}: README.md is long")
        check("Seen:" in page and "## What every package needs to know" in page, f"{folder}: README.md")
        check((folder / "LICENSE").is_file(), f"{folder}: no LICENSE")
        for file in folder.rglob("*"):
            check(not file.is_file() or file.suffix == ".gcst" or str(REPOSITORY) not in read(file),
                  f"{file} has a path of this machine")
    if "--kconfig" in sys.argv:
        check_kconfig(packages)
    for sentence in skipped:
        print(f"manifests.py: {sentence}")
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
