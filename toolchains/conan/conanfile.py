# SPDX-License-Identifier: Apache-2.0
"""Conan recipe of this checkout: conan create toolchains/conan --build=missing [-o "goldcrest/*:programs=True"]

The library is C and has no dependencies. The option
`programs` adds goldcrest-convert, with which goldcrest_add_model() converts checkpoints, and the other programs.
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class GoldcrestRecipe(ConanFile):
    name = "goldcrest"
    description = "int8 encoder-decoder Transformers on small machines"
    license = "Apache-2.0"
    topics = ("transformer", "inference", "int8", "embedded", "translation", "speech-to-text")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"fPIC": [True, False], "programs": [True, False]}
    default_options = {"fPIC": True, "programs": False}

    def set_version(self):
        text = load(self, os.path.join(SOURCES, "CMakeLists.txt"))
        self.version = re.search(r"project\(goldcrest VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        excludes = ("examples/models/*", "examples/pictures/*", "*/__pycache__/*")
        for part in ("CMakeLists.txt", "LICENSE", "boards/*", "converter/*", "engine/*", "examples/*", "toolchains/*"):
            copy(self, part, SOURCES, self.export_sources_folder, excludes=excludes)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Private: no header of the package includes them.
        if self.options.programs:
            self.requires("flatbuffers/[>=2.0.6 <26]", visible=False, libs=False)
            self.requires("cli11/[>=2.1 <3]", visible=False)
            self.requires("eigen/[>=3.4 <4]", visible=False)
            self.requires("fmt/[>=9 <12]", visible=False)
            self.requires("nlohmann_json/[>=3.11 <4]", visible=False)
            self.requires("openssl/[>=3 <4]", visible=False)
            self.requires("yaml-cpp/[>=0.7 <1]", visible=False)
            self.requires("zlib/[>=1.2.11 <2]", visible=False)

    def build_requirements(self):
        if self.options.programs:
            self.tool_requires("flatbuffers/<host_version>")  # flatc, of the headers' version

    def validate(self):
        if self.settings.get_safe("compiler.cppstd"):
            check_min_cppstd(self, 20 if self.options.programs else 17)
        if self.options.programs and self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"the programs are for Linux; os is {self.settings.os}")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["GOLDCREST_CONVERTER"] = bool(self.options.programs)
        toolchain.cache_variables["GOLDCREST_PROGRAMS"] = bool(self.options.programs)
        toolchain.cache_variables["GOLDCREST_TESTS"] = False
        toolchain.cache_variables["GOLDCREST_XNNPACK"] = "OFF"
        toolchain.cache_variables["GOLDCREST_QUICK_BUILD"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["goldcrest"]
        # find_package(goldcrest) finds the package's own file, which has goldcrest_add_model() too.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "goldcrest")]
        self.cpp_info.set_property("pkg_config_name", "goldcrest")
