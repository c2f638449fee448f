#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0
# Finds words and sentences that take two readings: in comments and messages of sources, and on pages. Prints one
# finding per line, as a compiler does. Exits with 0 even if there are findings: tests/lint.sh counts them.
# Usage: words.pl [FILE...]   (no file: all tracked files but models, data, the changelog and the licence)
use strict;
use warnings;
use Encode qw(decode);
use File::Basename qw(dirname);

my @words = (
  [qr/\balone\b/i, 'say "only" for "alone"'],
  [qr/\bl(?:ie|ies|ay)\b/i, 'say "is stored" or "is" for "lies"'],
  [qr/\bbeside\b/i, 'say "next to" or "compared with" for "beside"'],
  [qr/\bha(?:s|ve|d) (?:one|it)\b(?! (?:\w+ed|of|more|or two)\b)/i, 'name the thing: "has a tokenizer" for "has one"'],
  [qr/\bso (?:many|much)\b/i, 'say "this many" for "so many"'],
  [qr/\bwhat of\b/i, 'name the thing: "details" for "what of them"'],
  [qr/[,;] for (?:it|they|there|its|nothing|no \w+) /i, 'say "because" for "for"'],
);
my $noun_clause = qr/^(?:What|Of|Those|Whether|From where|From which|That which|How)\b(?![^.]*\?)/;
my @place = ([qr/(?<!left )(?<!leave )(?<!nothing )\bbehind\b/i, 'say "after" for "behind"']);  # not of messages
my $tail = qr/^(?:of|that|which|whose) /;  # of a comment next to code
my $longest = 30;  # words of a sentence on a page
my %most = (figure => 6, semicolon => 2.5);  # for each 100 words of a page that has 100

sub finding {
  my ($file, $line, $text, $message) = @_;
  my $start = substr $text, 0, 60;
  print "$file:$line: warning: $message: $start\n";
}

# One comment, message, paragraph or cell of a table, which begins on $line. $kind: what it is.
sub check_text {
  my ($file, $line, $text, $kind) = @_;
  while ($text =~ /(\S.*?(?:[.!?]["')\]*]*(?=\s|$)|$))/gs) {
    my ($sentence, $at) = ($1, $-[1]);
    my $here = $line + (substr($text, 0, $at) =~ tr/\n//);
    (my $flat = $sentence) =~ s/\s+/ /g;
    finding($file, $here, $flat, 'begin with the subject, not with a noun clause') if $flat =~ $noun_clause;
    for (@words, $kind eq 'message' ? () : @place) {
      my ($pattern, $message) = @$_;
      finding($file, $here, $flat, $message) while $flat =~ /$pattern/g;
    }
    if ($kind eq 'page') {
      my $n = () = $flat =~ /[^\s|]*\w[^\s|]*/g;
      finding($file, $here, $flat, "a sentence of $n words, at most $longest") if $n > $longest;
    }
  }
}

sub check_page {
  my ($file, $content) = @_;
  my ($line, $start, $paragraph, $in_code, $words, %n) = (0, 0, '', '', 0);
  my $flush = sub {
    check_text($file, $start, $paragraph, 'page') if $paragraph =~ /\w/;
    my $figures = () = $paragraph =~ /(?<![\w.,-])\d[\d.,-]*/g;
    $n{figure} += $figures;
    $n{semicolon} += $paragraph =~ tr/;//;
    $words += () = $paragraph =~ /\S+/g;
    my $message = "$figures figures in a paragraph, at most 3";
    finding($file, $start, $paragraph, $message) if $file eq 'README.md' and $figures > 3;
    $paragraph = '';
  };
  for my $text (split /\n/, $content) {
    ++$line;
    if ($text =~ /^\s*(```|~~~)/) { $flush->(); $in_code = $in_code ? '' : $1; next }
    next if $in_code;
    if ($text =~ /^\s*$/ or $text =~ /^(?:    |#|<|\s*\|?[-:| ]+\|?\s*$)/ and $paragraph !~ /\S/) {
      $flush->();
      next if $text !~ /^#/;
    }
    $text =~ s/\]\([^)]*\)/]/g;
    $text =~ s/`[^`]*`/code/g;
    if ($text =~ /^\s*\|/) {
      $flush->();
      check_text($file, $line, $_, 'page') for grep { /\w/ } split /\|/, $text;
      next;
    }
    if ($text =~ s/^\s*(?:[-*]|\d+\.)\s+//) { $flush->() }
    $start = $line if $paragraph eq '';
    $paragraph .= "$text\n";
  }
  $flush->();
  for (sort keys %n) {
    my $share = $words < 100 ? 0 : 100 * $n{$_} / $words;
    finding($file, 1, '', sprintf "%.1f ${_}s in 100 words, at most $most{$_}", $share) if $share > $most{$_};
  }
  check_front_door($file, split /\n/, decode('UTF-8', $content)) if $file eq 'README.md';
}

# The README has at most 45 lines before its first table, 110 in all, and 120 characters a line but in tables.
sub check_front_door {
  my ($file, @lines) = @_;
  my ($table) = grep { $lines[$_] =~ /^\|/ } 0 .. $#lines;
  finding($file, $table + 1, '', 'more than 45 lines before the first table') if $table > 45;
  finding($file, scalar @lines, '', 'more than 110 lines') if @lines > 110;
  for (0 .. $#lines) { finding($file, $_ + 1, '', 'more than 120 characters') if $lines[$_] =~ /^(?!\|).{121}/ }
}

# Links name files and headings that exist.
sub check_links {
  my ($file, $content) = @_;
  $content =~ s/^```.*?^```//gms;
  while ($content =~ /\]\((?!https?:)([^)\s#]*)#?([^)\s]*)\)/g) {
    my ($path, $heading) = ($1 eq '' ? $file : dirname($file) . "/$1", $2);
    my $text = -f $path ? `cat '$path'` : '';
    my %is_there = map { lc($_) =~ s/[^\w\- ]//gr =~ tr/ /-/r => 1 } '', $text =~ /^#+ (.*)$/gm;
    finding($file, 1, "$path#$heading", 'the link names nothing') if !-e $path or !$is_there{$heading};
  }
}

sub check_source {
  my ($file, $content, $mark) = @_;
  my ($line, $start, $comment) = (0, 0, '');
  my $flush = sub { check_text($file, $start, $comment, 'comment') if $comment =~ /\w/; $comment = '' };
  my $in_block = 0;
  for my $text (split /\n/, $content) {
    ++$line;
    my $said;
    if ($mark eq '//') {
      my $code = $text;
      if ($in_block) {
        $in_block = 0 if $code =~ s/\*\/.*$//;
        ($said = $code) =~ s/^\s*\*?\s?//;
        $code = '';
      } elsif ($code =~ s/^(\s*)\/\*+!?\s?(.*)$/$1/) {
        $said = $2;
        $in_block = 1 if $said !~ s/\*\/.*$//;
      } elsif ($code =~ s/^(\s*)\/\/+!?<?\s?(.*)$/$1/) {
        $said = $2;
      } elsif ($code =~ s{^((?:[^"/]|"(?:\\.|[^"\\])*"|/(?!/))*)//+<?\s?(.*)$}{$1}) {
        my $next_to_code = $2;
        $flush->();
        finding($file, $line, $next_to_code, 'write a sentence, not the tail of a name') if $next_to_code =~ $tail;
        check_text($file, $line, $next_to_code, 'comment');
      }
      if ($code !~ /^\s*#\s*include/) {
        while ($code =~ /"((?:\\.|[^"\\])*)"/g) { my $s = $1; check_text($file, $line, $s, 'message') if $s =~ / \w/ }
      }
    } elsif ($text =~ /^\s*#+(?!!)\s?(.*)$/) {
      $said = $1;
    } elsif ($text =~ /^[^'"#]*\s#\s(.*)$/) {
      my $next_to_code = $1;
      $flush->();
      check_text($file, $line, $next_to_code, 'comment');
    }
    if (defined $said) {
      next if $said =~ /SPDX|NOLINT|cppcheck-suppress/;
      if ($said =~ /^\s*$/) { $flush->(); next }
      $start = $line if $comment eq '';
      $comment .= "$said\n";
    } else {
      $flush->();
    }
  }
  $flush->();
}

my $exempt = qr{^(?:LICENSE|CHANGELOG\.md|examples/models/|tests/data/|tests/golden/(?:enfr|g2p)|tests/fuzz/corpus)};
my @files = @ARGV ? @ARGV : grep { !/$exempt/ } split /\n/, `git ls-files`;
for my $file (@files) {
  next if $file =~ m{/words(?:\.pl|_exempt\.txt)$};
  open my $in, '<', $file or next;
  local $/;
  my $content = <$in>;
  if ($file =~ /\.md$/) {
    check_page($file, $content);
    check_links($file, $content);
  }
  elsif ($file =~ /\.(?:cc|h|hpp|c|fbs|m?[jt]s|S|in|patch)$/) { check_source($file, $content, '//') }
  elsif ($file =~ /(?:\.(?:sh|cmake|py|yml|yaml|ld|make|pl)|CMakeLists\.txt)$/) { check_source($file, $content, '#') }
}
