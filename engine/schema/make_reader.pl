#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0
# Prints the accessors of a schema for the engine: classes over schema/reader.h, and the tables by which
# model/structure.cc checks a file. It knows what model.fbs uses of the schema language. A field's type must be declared
# before the field. A test compares its output with model_reader_generated.h.
# Usage: perl engine/schema/make_reader.pl engine/schema/model.fbs > engine/schema/model_reader_generated.h
use strict;
use warnings;

my %number = (bool => ['uint8_t', 0], ubyte => ['uint8_t', 0], short => ['int16_t', 1], uint => ['uint32_t', 2],
              int => ['int32_t', 2], ulong => ['uint64_t', 3], float => ['float', 2]);
die "usage: perl make_reader.pl SCHEMA\n" if @ARGV != 1;
open my $in, '<', $ARGV[0] or die "make_reader.pl: $ARGV[0]: cannot be read\n";
my $schema = do { local $/; <$in> } =~ s{//[^\n]*}{}gr;
my $root = $schema =~ /root_type (\w+)/ ? $1 : die "make_reader.pl: $ARGV[0]: no root_type\n";

my (%enum, %table, $enums, $tables, $kinds, @features, @sets, @extents);
my $n_fields = 0;
# The kinds of reader.h.
my ($string_kind, $table_kind, $vector_kind) = (4, 8, 128);
# Lists numbers or names, each line with `indent` before it and at most 120 columns.
sub in_lines {
  my ($indent, @items) = @_;
  my @lines = ('');
  for my $item (map { "$_," } @items) {
    push @lines, '' if length("$lines[-1] $item") > 116;
    $lines[-1] .= ($lines[-1] eq '' ? $indent : ' ') . $item;
  }
  return join("\n", @lines) . "\n";
}
while ($schema =~ /^(enum|table) (\w+)([^{]*)\{([^}]*)\}/gm) {
  my ($keyword, $name, $type, $body) = ($1, $2, $3, $4);
  if ($keyword eq 'enum') {
    $enum{$name} = $number{$type =~ /(\w+)/ ? $1 : ''};
    my @entries = map { s/\s+/ /gr } $body =~ /\w+(?:\s*=\s*\d+)?/g;
    my $last = $entries[-1] =~ s/ .*//r;
    $enums .= "enum class $name : $enum{$name}[0] {\n" . in_lines('  ', @entries, "MAX = $last") . "};\n";
    next;
  }
  my ($accessors, @slots, @field_kinds) = ('');
  while ($body =~ /(\w+):(\[?)(\w+)\]?(?: = ([-\w.]+))?(?: \(feature: "([^"]+)"\))?;/g) {
    my ($field, $is_vector, $of, $default, $features) = ($1, $2, $3, $4 // '0', $5);
    my $stored = $number{$of} // $enum{$of};
    my $kind = $stored ? $stored->[1] : $of eq 'string' ? $string_kind : defined $table{$of} ? $table_kind + $table{$of}
      : die "make_reader.pl: $name.$field has the type $of, which no line before it declares\n";
    my $content = $stored ? "Vector<$stored->[0]>" : $of eq 'string' ? 'String' : $of;
    $content = "References<$content>" if $is_vector && !$stored;
    push @field_kinds, $kind + ($is_vector ? $vector_kind : 0);
    if (defined $features) {
      my $set = join ' | ', map { "bit(Feature::$_)" } split /\|/, $features;
      push @sets, $set if !grep { $_ eq $set } @sets;
      my ($place) = grep { $sets[$_] eq $set } 0 .. $#sets;
      my $is_one = ($default // '') =~ /^(true|1\.0)$/;
      push @features, sprintf '{%d, %d, %d}', $n_fields + $#field_kinds, $place, $is_one ? ($of eq 'float' ? 2 : 1) : 0;
    }
    my $constant = 'VT_' . uc $field;
    push @slots, "$constant = " . (4 + 2 * @slots);
    $default = {true => 1, false => 0}->{$default} // $default;
    my $arguments = $constant . ($default == 0 ? '' : ", $default");
    if ($is_vector || !$stored) {
      $accessors .= "  const $content* $field() const { return content<$content>($constant); }\n";
    } elsif ($of eq 'bool') {
      $accessors .= "  bool $field() const { return number<uint8_t>($arguments) != 0; }\n";
    } elsif ($enum{$of}) {
      $accessors .= "  $of $field() const { return static_cast<$of>(number<$stored->[0]>($arguments)); }\n";
    } else {
      $accessors .= "  $stored->[0] $field() const { return number<$stored->[0]>($arguments); }\n";
    }
  }
  $tables .= "struct $name : Table {\n  enum : Slot {\n" . in_lines('    ', @slots) . "  };\n$accessors};\n\n";
  $table{$name} = @extents;
  push @extents, "{$n_fields, " . @slots . '}';
  $n_fields += @slots;
  $kinds .= "    // $name\n" . in_lines('    ', @field_kinds);
}

print "// SPDX-License-Identifier: Apache-2.0
// Made of model.fbs by make_reader.pl.
#pragma once

#include \"schema/reader.h\"

// clang-format off
namespace goldcrest::format {
inline namespace reader {
$enums
${tables}inline const $root* Get$root(const void* file) {
  const auto* const start = static_cast<const uint8_t*>(file);
  return reinterpret_cast<const $root*>(start + read<uint32_t>(start));
}

// The kind of each field of each table.
constexpr uint8_t kFieldKinds[] = {
$kinds};

// The fields that a file may have only with one of a set of features, ascending, each with its set and its default.
constexpr FeatureField kFeatureFields[] = {
" . in_lines('    ', @features) . "};
constexpr uint32_t bit(Feature feature) { return static_cast<uint32_t>(feature); }
constexpr uint32_t kFeatureSets[] = {
" . join('', map { "    $_,\n" } @sets) . "};

// In the order above.
constexpr TableFields kTables[] = {
" . in_lines('    ', @extents) . "};
constexpr uint32_t kRootTable = $table{$root};
}  // namespace reader
}  // namespace goldcrest::format
";
