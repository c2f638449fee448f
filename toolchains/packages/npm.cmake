# SPDX-License-Identifier: Apache-2.0
# npm: the module for web pages and node with its JavaScript and types (packages.cmake), which `npm pack` packs there.
set(folder "${OUTPUT}/npm/goldcrest")
set(files goldcrest.d.mts goldcrest.mjs goldcrest.wasm worker.mjs)
list(TRANSFORM files PREPEND "${WEB}/" OUTPUT_VARIABLE paths)
file(COPY ${paths} "${SOURCE}/LICENSE" DESTINATION "${folder}")
goldcrest_write_readme("${folder}" "npm")
list(JOIN files "\", \"" files)
set(repository "")
if(URL)
  set(repository "  \"repository\": \"${URL}\",\n")
endif()
file(WRITE "${folder}/package.json" "{
  \"name\": \"goldcrest-transformer\",
  \"version\": \"${VERSION}\",
  \"description\": \"${DESCRIPTION}\",
  \"keywords\": [\"transformer\", \"inference\", \"int8\", \"translation\", \"webassembly\"],
${repository}  \"author\": \"${CONTACT}\",
  \"license\": \"${license}\",
  \"type\": \"module\",
  \"exports\": {
    \".\": {\"types\": \"./goldcrest.d.mts\", \"default\": \"./goldcrest.mjs\"},
    \"./goldcrest.wasm\": \"./goldcrest.wasm\",
    \"./worker.mjs\": \"./worker.mjs\"
  },
  \"types\": \"./goldcrest.d.mts\",
  \"files\": [\"${files}\"],
  \"engines\": {\"node\": \">=20\"}
}
")
