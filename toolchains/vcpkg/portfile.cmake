# SPDX-License-Identifier: Apache-2.0
# vcpkg port of this checkout: vcpkg install "goldcrest[programs]" --overlay-ports=toolchains/vcpkg
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
set(VCPKG_BUILD_TYPE release)  # a debug build has the same interface
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options
    FEATURES
        programs GOLDCREST_CONVERTER
        programs GOLDCREST_PROGRAMS
)
if("programs" IN_LIST FEATURES)
    list(APPEND feature_options
        "-DGOLDCREST_FLATC=${CURRENT_HOST_INSTALLED_DIR}/tools/flatbuffers/flatc${VCPKG_HOST_EXECUTABLE_SUFFIX}"
        "-DGOLDCREST_FLATBUFFERS_INCLUDE=${CURRENT_INSTALLED_DIR}/include"
    )
endif()
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${feature_options}
        -DGOLDCREST_TESTS=OFF
        -DGOLDCREST_XNNPACK=OFF
        -DGOLDCREST_QUICK_BUILD=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/goldcrest)
vcpkg_fixup_pkgconfig()
if("programs" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES goldcrest-convert goldcrest-translate goldcrest-transcribe goldcrest-inspect goldcrest-bench AUTO_CLEAN)
    # goldcrest_add_model() looks for the converter there.
    vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/share/goldcrest/goldcrest-config.cmake" "}/bin\"" "}/tools/goldcrest\"")
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
