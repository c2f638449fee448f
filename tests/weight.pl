#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0
# Counts what makes this house heavy, and compares the counts with the ceilings in tests/weight.txt. Fails if a count is
# above its ceiling, and names the places that grew since the ceilings were last changed. A ceiling only falls: a count
# that is more than 1 % below it fails too, until the ceiling follows. Raise a ceiling only with a reason in the commit.
# Usage: perl tests/weight.pl [--lower] [FOLDER]
#   --lower  write each count that is below its ceiling into tests/weight.txt
#   FOLDER   count another tree [this one]
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Temp qw(tempdir);

my $longest_line = 120;
my $longest_function = 60;  # lines, from its name to its brace
my $most_files = 30;        # of a folder, without those of its subfolders
my $allowed_rest = 0.01;    # of a ceiling above its count

my $is_code = qr/(?:\.(?:cc|h|hpp|c|py|mjs|mts|sh|cmake|fbs|in|ld|S|pl)|CMakeLists\.txt)$/;
my $is_cpp = qr/\.(?:cc|h|hpp|c)$/;
# Folders whose headers only their own tree should include.
my $of_converter = qr/(?:math|spec|sources|tokenizers|dialects|quantize|file|reference|evaluate|report|cli|python)/;
my $of_engine = qr/(?:base|schema|model|memory|kernels|layers|decoding|text|backends|api)/;

# All of a folder's files that git knows or would know. A folder without git is one that this script unpacked.
sub list_files {
  my ($root) = @_;
  my $list = -e "$root/.git" ? 'git ls-files --cached --others --exclude-standard' : 'find . -type f';
  my @files = map { s{^\./}{}r } split /\n/, `cd '$root' && $list`;
  my %seen;
  return sort grep { !$seen{$_}++ && -f "$root/$_" } @files;
}

# Removes comments; keeps the lines. Strings stay as they are, because they may hold the signs of a comment.
sub strip_comments {
  my ($file, $text) = @_;
  if ($file =~ /\.(?:py|sh|cmake|pl|cmake\.in)$|CMakeLists\.txt$/) {
    $text =~ s{^[ \t]*("""|''').*?\1}{}gms if $file =~ /\.py$/;
    return $text =~ s{^[ \t]*\#.*$}{}gmr;
  }
  my $string = qr{R"(\w*)\(.*?\)\g{-1}"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'}s;
  $text =~ s{($string)|//[^\n]*|/\*(.*?)\*/}{defined $1 ? $1 : "\n" x (($3 // '') =~ tr/\n//)}gse;
  return $text;
}

sub code_row {
  my ($file) = @_;
  return 'code.generated' if $file =~ /_generated\./;
  return 'code.host' if $file =~ m{^engine/host/};
  my ($tree) = $file =~ m{^(engine|converter|examples|toolchains|boards|tests)/} or return;
  return 'code.' . ($tree eq 'boards' ? 'toolchains' : $tree);
}

# Returns the names of parameters, fields and variables through which a step of the engine reaches the model: those of
# type ModelView, of a struct that has such a member, and so on, and addresses named `file` or `model`.
sub model_names {
  my ($text_of) = @_;
  my (%body, %carries, %names);
  for (values %$text_of) { $body{$1} = $2 while /^struct (\w+)[^;{]*\{(.*?)^\}/gms }
  for (my ($n, $types) = (-1, 'ModelView'); $n != keys %carries;) {
    $n = keys %carries;
    %carries = (ModelView => 1, map { $_ => 1 } grep { $body{$_} =~ /^[^()\n]*\b(?:$types)\b[^()\n]*;/m } keys %body);
    $types = join '|', keys %carries;
  }
  my $types = join '|', keys %carries;
  for my $file (sort grep { m{^engine/(?:api/engine\.|decoding/|layers/|kernels/|text/)} } keys %$text_of) {
    for ($text_of->{$file}) {
      $names{"$1 $2"} //= $file while /\b($types)\b[ \t]*[&*]?[ \t]*([a-z]\w*)\s*[;,)={]/g;
      $names{"void $1"} //= $file while /const (?:uint8_t|void)\s*\*\s*(file|model)\b/g;
    }
  }
  return \%names;
}

my $no_function = qr/(?:if|for|while|switch|do|else|struct|class|enum|union|namespace)\b/;
# Returns the lines on which functions begin that are too long. clang-format puts their ends into columns 0 and 2.
sub long_functions {
  my (@lines) = @_;
  my (@start, @long);
  for my $i (0 .. $#lines) {
    next if $lines[$i] !~ /^(|  )(\S.*)$/;
    my ($indent, $rest) = (length $1, $2);
    if ($rest ne '}') {
      $start[$indent] = $i if $rest !~ m{^(?:#|//|\w+:$)};
      next;
    }
    my $first = $start[$indent] // next;
    next if $lines[$first] !~ /\(/ or $lines[$first] =~ /^ *(?:\}|$no_function|[^(]*=)/;
    push @long, $first + 1 if $i - $first + 1 > $longest_function;
  }
  return @long;
}

# Returns the counts of a tree: name of the row => place => number.
sub count_tree {
  my ($root) = @_;
  my (%count, %engine_text, %folder);
  my $add = sub { my ($row, $place, $n) = @_; $count{$row}{$place} += $n if $n };
  for my $file (list_files($root)) {
    ++$folder{dirname($file)} if $file =~ m{^(?:engine|converter|examples|tests/convert)/};
    next if $file !~ /$is_code|\.md$|^CMakePresets\.json$|departures\.txt$/;
    open my $in, '<:encoding(UTF-8)', "$root/$file" or die "weight.pl: $file: cannot be read\n";
    my $text = do { local $/; <$in> } // '';
    my @lines = split /\n/, $text;
    $add->('departures', $file, scalar @lines) if $file eq 'tests/link/departures.txt';
    $add->('presets', $file, scalar @lines) if $file eq 'CMakePresets.json';
    $add->('words', $file, scalar(() = $text =~ /\S+/g)) if $file =~ /\.md$/ and $file ne 'CHANGELOG.md';
    next if $file !~ $is_code;
    my $row = code_row($file) // next;
    my $code = strip_comments($file, $text);
    $add->($row, $file, scalar grep { /\S/ } split /\n/, $code);
    $add->('lines', $file, $text =~ tr/\n//);
    $add->('shell', $file, $text =~ tr/\n//) if $file =~ /\.sh$/;
    for my $i (grep { length $lines[$_] > $longest_line } 0 .. $#lines) {
      $add->('wide', "$file:" . ($i + 1), 1) if $lines[$i] !~ /^GOLDCREST_OPTION\(/;  # a table, one line each
    }
    if ($file =~ $is_cpp) { $add->('functions', "$file:$_", 1) for long_functions(@lines) }
    $add->('options', $file, scalar(() = $text =~ /^GOLDCREST_OPTION\(/gm)) if $file eq 'engine/base/features-inl.h';
    if ($file =~ m{^(?:engine|converter)/.*(?:CMakeLists\.txt|\.cmake)$}) {
      $add->('examples_elsewhere', $file, scalar grep { /\bexamples\b/ } split /\n/, $code);
    }
    $engine_text{$file} = $code if $file =~ m{^engine/(?!host/)} and $file =~ $is_cpp and $file !~ /_generated\./;
    if ($file =~ m{^examples/(?!bench/)} and $file =~ $is_cpp) {
      $add->('converter_includes', $file, 1) if $code =~ m{^\s*#\s*include\s*"$of_converter/}m;
      $add->('engine_includes', $file, 1) if $code =~ m{^\s*#\s*include\s*"$of_engine/}m;
    }
  }
  for (grep { $folder{$_} > $most_files } keys %folder) { $add->('crowded', $_, $folder{$_} - $most_files) }
  count_engine(\%engine_text, $add);
  return \%count;
}

# A macro or a constant that stands for a counted word is that word, and so are its uses.
sub count_engine {
  my ($text_of, $add) = @_;
  my $all = join "\n", values %$text_of;
  my $cold = join '|', 'gnu::cold', '__attribute__\(\(cold', map { "\\b$_\\b" } $all =~ /#\s*define\s+(\w+).*\bcold\b/g;
  my $constants = join '|', 'kHas[A-Z]\w*', $all =~ /^constexpr bool (\w+) = [^;]*\bkHas[A-Z]/gm;
  for my $file (keys %$text_of) {
    my $text = $text_of->{$file};
    $add->('cold', $file, scalar(() = $text =~ /$cold/g));
    my @conditions = $text =~ /\b(?:$constants)\b|\b(?:Choose|StageIf)</g;
    my @lines = grep { !/\bGOLDCREST_\w+_H_\b/ } $text =~ /^\s*#\s*(?:el)?if.*\bGOLDCREST_.*$/gm;
    $add->('conditions', $file, @conditions + @lines);
  }
  my $names = model_names($text_of);
  $add->('model_names', "$names->{$_}: $_", 1) for keys %$names;
}

sub total { my $n = 0; $n += $_ for values %{$_[0] // {}}; return $n }

# Prints the places that grew since the commit of the ceilings. Without its history prints those that have the most.
sub print_growth {
  my ($root, $rows, $count) = @_;
  my $copy = tempdir(CLEANUP => 1);
  my $commit = `cd '$root' && git log -1 --format=%H -- tests/weight.txt 2>/dev/null` =~ s/\s//gr || 'HEAD';
  my $unpacks = "cd '$root' && git archive $commit 2>/dev/null | tar -x -C '$copy' 2>/dev/null";
  my $before = system($unpacks) == 0 ? count_tree($copy) : {};
  for my $row (@$rows) {
    my (%now, %then);
    for my $place (keys %{$count->{$row}}) { $now{$place =~ s/:\d+$//r} += $count->{$row}{$place} }
    for my $place (keys %{$before->{$row}}) { $then{$place =~ s/:\d+$//r} += $before->{$row}{$place} }
    my $growth = sub { $now{$_[0]} - ($then{$_[0]} // 0) };
    my @places = sort { $growth->($b) <=> $growth->($a) || $a cmp $b } keys %now;
    my @grown = grep { $growth->($_) > 0 } @places;
    @places = @grown if @grown;
    $#places = 9 if @places > 10;
    print "$_: $row: $now{$_}, before ", $then{$_} // 0, "\n" for @places;
  }
}

my $lowers = @ARGV && $ARGV[0] eq '--lower' ? shift @ARGV : '';
my $root = shift(@ARGV) // dirname($0) . '/..';
die "usage: perl tests/weight.pl [--lower] [FOLDER]\n" if @ARGV or $root =~ /^-|'/;
open my $file, '<', "$root/tests/weight.txt" or die "weight.pl: $root/tests/weight.txt: cannot be read\n";
my @lines = <$file>;
my $count = count_tree($root);
my (@above, $findings, %known);
printf "%-20s %9s %9s %9s %9s\n", qw(count dc92788e ceiling goal today);
for my $line (@lines) {
  next if $line =~ /^(?:#|$)/;
  my ($row, $base, $ceiling, $goal) = $line =~ /^(\S+) +(\d+) +(\d+|-) +(\d+|-)$/
    or die "weight.pl: tests/weight.txt: no row of a name, a base, a ceiling and a goal: $line";
  my $today = total($count->{$row});
  $known{$row} = 1;
  printf "%-20s %9s %9s %9s %9s\n", $row, $base, $ceiling, $goal, $today;
  next if $ceiling eq '-';
  my $least = $goal ne '-' && $today < $goal ? $goal : $today;  # no ceiling need be below its goal
  push @above, $row if $today > $ceiling;
  if ($lowers) { $line =~ s/^(\S+ +\d+ +)(\d+)/$1 . sprintf '%*d', length $2, $least/e if $least < $ceiling }
  elsif ($ceiling - $least > $allowed_rest * $ceiling) {
    print "tests/weight.txt: $row: $today is below the ceiling, $ceiling: run perl tests/weight.pl --lower\n";
    ++$findings;
  }
}
for (grep { !$known{$_} } sort keys %$count) { print "tests/weight.txt: $_: the row is missing\n"; ++$findings }
for (@above) {
  print "tests/weight.txt: $_: ", total($count->{$_}), ' is above the ceiling: make it less, or say why not', "\n";
}
print_growth($root, \@above, $count) if @above;
if ($lowers) {
  open my $out, '>', "$root/tests/weight.txt" or die "weight.pl: $root/tests/weight.txt: cannot be written\n";
  print $out @lines;
}
exit($findings || @above ? 1 : 0);
