# SPDX-License-Identifier: Apache-2.0
# CMSIS-Pack: a folder and its description, which a zip program makes a .pack (packages.cmake). Each option is a
# component that defines its macro for all files of a project.
set(folder "${OUTPUT}/cmsis-pack/goldcrest")
set(example "${folder}/examples/pronounce")
goldcrest_copy_engine("${folder}")
goldcrest_write_readme("${folder}" "CMSIS-Pack")
goldcrest_copy_example("${example}" plain.c main.c)

set(same_class "Cclass=\"Machine Learning\" Cgroup=\"Goldcrest\"")
set(conditions "")
set(components "")
foreach(option IN LISTS GOLDCREST_ENGINE_OPTIONS)
  string(APPEND conditions "    <condition id=\"${option}\">
      <description>What ${option} needs</description>
      <require ${same_class} Csub=\"Engine\"/>\n")
  foreach(other IN LISTS ${option}_TURNS_ON)
    string(APPEND conditions "      <require ${same_class} Csub=\"${other}\"/>\n")
  endforeach()
  string(APPEND conditions "    </condition>\n")
  set(id "Csub=\"${option}\" Cversion=\"${VERSION}\"")
  string(APPEND components "    <component ${same_class} ${id} condition=\"${option}\">
      <description>${${option}_HELP}</description>
      <Pre_Include_Global_h>#define ${option}</Pre_Include_Global_h>
      <files>
        <file category=\"header\" name=\"include/goldcrest/goldcrest.h\"/>
      </files>
    </component>\n")
endforeach()
goldcrest_lines(files "        <file category=\"sourceCpp\" name=\"" "\"/>\n" ${base_sources})
set(end "\" attr=\"template\" select=\"Pronounces words\"/>\n")
goldcrest_lines(sources "        <file category=\"sourceC\" name=\"examples/pronounce/" "${end}"
  main.c pronounce.c model_g2p_small.c)
goldcrest_lines(headers "        <file category=\"header\" name=\"examples/pronounce/" "${end}"
  pronounce.h model_g2p_small.h)
string(REGEX REPLACE "/*$" "/" url "${URL}")
file(WRITE "${folder}/Goldcrest.goldcrest.pdsc" "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!-- SPDX-License-Identifier: ${license} -->
<package schemaVersion=\"1.7.40\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\"
  xs:noNamespaceSchemaLocation=\"PACK.xsd\">
  <vendor>Goldcrest</vendor>
  <name>goldcrest</name>
  <description>${DESCRIPTION}</description>
  <url>${url}</url>
  <license>LICENSE</license>
  <releases>
    <release version=\"${VERSION}\">goldcrest ${VERSION}</release>
  </releases>
  <keywords>
    <keyword>transformer</keyword>
    <keyword>int8</keyword>
  </keywords>
  <conditions>
    <condition id=\"Cortex-M\">
      <description>A Cortex-M with GCC or Clang, whose macros choose the kernels</description>
      <accept Dcore=\"Cortex-M4\"/>
      <accept Dcore=\"Cortex-M7\"/>
      <accept Dcore=\"Cortex-M33\"/>
      <accept Dcore=\"Cortex-M55\"/>
      <accept Dcore=\"Cortex-M85\"/>
    </condition>
${conditions}  </conditions>
  <components>
    <component ${same_class} Csub=\"Engine\" Cversion=\"${VERSION}\" condition=\"Cortex-M\">
      <description>The engine: tokenizer, encoder, decoder, search; C interface, no heap</description>
      <files>
        <file category=\"doc\" name=\"README.md\"/>
        <file category=\"include\" name=\"include/\"/>
        <file category=\"header\" name=\"include/goldcrest/goldcrest.h\"/>
        <file category=\"include\" name=\"source/\"/>
${files}${sources}${headers}      </files>
    </component>
${components}  </components>
</package>
")
