# SPDX-License-Identifier: Apache-2.0
# goldcrest_write_reader(SCHEMA FILE) writes the accessors of a schema's text for the engine: classes over schema/reader.h
# and the tables by which model/structure.cc checks a file. It knows what model.fbs uses of the schema language. A field's
# type must be declared before the field.
set(goldcrest_number_bool uint8_t 0)
set(goldcrest_number_ubyte uint8_t 0)
set(goldcrest_number_short int16_t 1)
set(goldcrest_number_uint uint32_t 2)
set(goldcrest_number_int int32_t 2)
set(goldcrest_number_ulong uint64_t 3)
set(goldcrest_number_float float 2)

function(goldcrest_write_reader schema file)
  string(REGEX REPLACE "//[^\n]*|\\(build_option: \"[^\"]*\"\\)" "" schema "${schema}")
  # Characters that CMake's lists give a meaning.
  string(REPLACE ";" "$" schema "${schema}")
  string(REPLACE "[" "<" schema "${schema}")
  string(REPLACE "]" ">" schema "${schema}")
  string(REGEX MATCHALL "(enum|table) [^}]*}" declarations "${schema}")
  set(enums "")
  set(tables "")
  set(kinds "")
  set(extents "")
  set(n_tables 0)
  set(n_fields 0)
  foreach(declaration IN LISTS declarations)
    string(REGEX MATCH "^(enum|table) ([A-Za-z]+)" head "${declaration}")
    set(keyword "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "^[^{]*{|}$" "" body "${declaration}")
    if(keyword STREQUAL "enum")
      string(REGEX MATCH ": *([a-z]+)" type "${declaration}")
      set(goldcrest_enum_${name} ${CMAKE_MATCH_1})
      list(GET goldcrest_number_${CMAKE_MATCH_1} 0 type)
      string(REGEX MATCHALL "[A-Za-z0-9]+( *= *[0-9]+)?" entries "${body}")
      list(GET entries -1 last)
      string(REGEX REPLACE " *=.*" "" last "${last}")
      list(JOIN entries ", " entries)
      string(APPEND enums "enum class ${name} : ${type} { ${entries}, MAX = ${last} };\n")
      continue()
    endif()
    set(slots "")
    set(accessors "")
    set(first ${n_fields})
    set(slot 4)
    string(REGEX MATCHALL "[a-z_0-9]+:[^$]*[$]" fields "${body}")
    foreach(field IN LISTS fields)
      string(REGEX MATCH "^([a-z_0-9]+):(<?)([A-Za-z]+)>?( = ([-a-z.0-9]+))?" head "${field}")
      set(field_name "${CMAKE_MATCH_1}")
      set(is_vector "${CMAKE_MATCH_2}")
      set(type "${CMAKE_MATCH_3}")
      set(default "${CMAKE_MATCH_5}")
      if(DEFINED goldcrest_number_${type})
        list(GET goldcrest_number_${type} 0 stored)
        list(GET goldcrest_number_${type} 1 kind)
        set(content "Vector<${stored}>")
      elseif(DEFINED goldcrest_enum_${type})
        list(GET goldcrest_number_${goldcrest_enum_${type}} 0 stored)
        list(GET goldcrest_number_${goldcrest_enum_${type}} 1 kind)
      elseif(type STREQUAL "string")
        set(stored "")
        set(kind kStringKind)
        set(content "String")
      elseif(DEFINED goldcrest_table_${type})
        set(stored "")
        set(kind "kTableKind + ${goldcrest_table_${type}}")
        set(content "${type}")
      else()
        message(FATAL_ERROR "schema/model.fbs: ${name}.${field_name} has the type ${type}, which no line before it declares")
      endif()
      if(is_vector)
        string(PREPEND kind "kVectorKind + ")
        if(stored STREQUAL "")
          set(content "References<${content}>")
        endif()
        set(stored "")
      endif()
      string(APPEND kinds "    ${kind},  // ${name}.${field_name}\n")
      if(NOT field MATCHES "deprecated")
        string(TOUPPER "VT_${field_name}" constant)
        string(APPEND slots "    ${constant} = ${slot},\n")
        if(default STREQUAL "true")
          set(default 1)
        elseif(default STREQUAL "" OR default STREQUAL "false")
          set(default 0)
        endif()
        set(arguments "${constant}")
        if(NOT default EQUAL 0)
          string(APPEND arguments ", ${default}")
        endif()
        if(stored STREQUAL "")
          string(APPEND accessors "  const ${content}* ${field_name}() const { return content<${content}>(${constant}); }\n")
        elseif(type STREQUAL "bool")
          string(APPEND accessors "  bool ${field_name}() const { return number<uint8_t>(${arguments}) != 0; }\n")
        elseif(DEFINED goldcrest_enum_${type})
          string(APPEND accessors
            "  ${type} ${field_name}() const { return static_cast<${type}>(number<${stored}>(${arguments})); }\n")
        else()
          string(APPEND accessors "  ${stored} ${field_name}() const { return number<${stored}>(${arguments}); }\n")
        endif()
      endif()
      math(EXPR slot "${slot} + 2")
      math(EXPR n_fields "${n_fields} + 1")
    endforeach()
    string(APPEND tables "struct ${name} : Table {\n  enum : Slot {\n${slots}  };\n${accessors}};\n\n")
    math(EXPR n "${n_fields} - ${first}")
    string(APPEND extents "    {${first}, ${n}},  // ${name}\n")
    set(goldcrest_table_${name} ${n_tables})
    set(root ${n_tables})
    math(EXPR n_tables "${n_tables} + 1")
  endforeach()
  string(REGEX MATCH "root_type ([A-Za-z]+)" head "${schema}")
  set(root_name "${CMAKE_MATCH_1}")
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT "// SPDX-License-Identifier: Apache-2.0
// Made of schema/model.fbs by schema/reader.cmake.
#pragma once

#include \"schema/reader.h\"

namespace goldcrest::format {
inline namespace reader {

@enums@
@tables@inline const @root_name@* Get@root_name@(const void* file) {
  const auto* const start = static_cast<const uint8_t*>(file);
  return reinterpret_cast<const @root_name@*>(start + read<uint32_t>(start));
}

constexpr uint8_t kFieldKinds[] = {
@kinds@};

constexpr TableFields kTables[] = {
@extents@};
constexpr uint32_t kRootTable = @root@;

}  // namespace reader
}  // namespace goldcrest::format
")
endfunction()
