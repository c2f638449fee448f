// SPDX-License-Identifier: Apache-2.0
// tokenizer.json in the folders of families.json and t5.json: made here of their SentencePiece models, part by part as
// transformers 5.23 makes it. tests/peers/tokenizer_json.py compares with the `tokenizers` package itself.
#include "convert/support/sample_folder.h"
#include "dialects/dialect.h"
#include "support/expect_error.h"
#include "tokenizers/segmenter.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter { namespace {
constexpr const char* kMark = "\u2581";

ModelSpec load_text(const std::filesystem::path& folder) { return load_checkpoint(folder, {}); }

const std::filesystem::path& text_folders() {
  static const test::PackedFolders families(test::recorded("families.json"));
  return families.path();
}

const std::filesystem::path& t5_folders() {
  static const test::PackedFolders t5(test::recorded("t5.json")["folders"]);
  return t5.path();
}

// The pieces' texts, each with its id.
using Listed = std::vector<std::pair<std::string, float>>;

// All pairs that make a piece, best piece first.
Value merges_of(const Listed& pieces) {
  std::set<std::string> texts;
  for (const auto& [text, score] : pieces) texts.insert(text);
  Listed sorted = pieces;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Value merges = Value::list();
  for (const auto& [text, score] : sorted) {
    for (size_t at = 1; at < text.size(); ++at)
      if (texts.contains(text.substr(0, at)) && texts.contains(text.substr(at)))
        merges.push_back(Value::list({text.substr(0, at), text.substr(at)}));
  }
  return merges;
}

Value added(size_t id, const std::string& text) { return {{"id", id}, {"content", text}, {"special", true}}; }

Value spaces() {
  return {{"type", "Sequence"},
      {"pretokenizers",
          Value::list({{{"type", "WhitespaceSplit"}},
              {{"type", "Metaspace"}, {"replacement", kMark}, {"prepend_scheme", "always"}, {"split", true}}})}};
}

// The tokenizer.json of a model whose first pieces are replaced by `special`.
Value tokenizer_of(
    const TokenizerSpec& model, const std::vector<std::string>& special, size_t first, const std::string& unknown) {
  Listed pieces;
  for (const std::string& text : special) pieces.emplace_back(text, 0);
  for (size_t id = first; id < model.pieces.size(); ++id)
    pieces.emplace_back(model.pieces[id].text, model.pieces[id].score);
  Value scores = Value::list(), ids = Value::map(), entries = Value::list();
  size_t unknown_id = 0;
  for (size_t id = 0; id < pieces.size(); ++id) {
    const auto& [text, score] = pieces[id];
    scores.push_back(Value::list({text, score}));
    ids[text] = id;
    if (text == unknown) unknown_id = id;
    if (id < special.size() || (id < first && text.starts_with("<"))) entries.push_back(added(id, text));
  }
  const bool is_bpe = model.kind == TokenizerKind::kBpe;
  Value object = {{"type", is_bpe ? "BPE" : "Unigram"}, {"byte_fallback", model.byte_fallback}};
  object["vocab"] = is_bpe ? ids : scores;
  if (is_bpe) {
    Listed ordinary(pieces.begin() + static_cast<long>(special.size()), pieces.end());
    object["merges"] = merges_of(ordinary);
    object["unk_token"] = unknown;
    object["fuse_unk"] = true;
  } else {
    object["unk_id"] = unknown_id;
  }
  return {{"version", "1.0"}, {"added_tokens", entries}, {"normalizer", {}}, {"pre_tokenizer", spaces()},
      {"decoder", {{"type", "Metaspace"}, {"replacement", kMark}}}, {"post_processor", {}}, {"model", object}};
}

void write(const std::filesystem::path& folder, const Value& tokenizer) {
  std::ofstream(folder / "tokenizer.json") << write_json(tokenizer);
}

struct JsonFolder : test::FolderCopy {
  explicit JsonFolder(const std::filesystem::path& of) : FolderCopy(of) {}
  const char* pieces() const {
    return std::filesystem::exists(path() / "spiece.model") ? "spiece.model" : "sentencepiece.bpe.model";
  }
};

const std::vector<const char*>& texts() {
  static const std::vector<const char*> lines = {
      "Where is the station?", " two  spaces ", "\u0416 unknown \u4e2d\u6587x", "Il n'y a pas.", "", "a"};
  return lines;
}

Value t5_json(const std::filesystem::path& folder) {
  const TokenizerSpec model = read_sentencepiece_model(folder / "spiece.model");
  return tokenizer_of(model, {"<pad>", "</s>", "<unk>"}, 3, "<unk>");
}

TEST(TokenizerJson, GivesTheIdsOfTheSentencePieceModel) {
  const std::vector<std::string> special = {"<s>", "<pad>", "</s>", "<unk>"};
  struct Case {
    std::filesystem::path folder;
    std::vector<std::string> special;
    size_t first;
  };
  std::vector<std::string> pegasus = {"<pad>", "</s>", "<mask_1>", "<mask_2>"};
  for (int i = 2; i < 103; ++i) pegasus.push_back("<unk_" + std::to_string(i) + ">");
  const Case cases[] = {{t5_folders() / "t5-0", {"<pad>", "</s>", "<unk>"}, 3},
      {text_folders() / "pegasus", pegasus, 2}, {text_folders() / "nllb", special, 3},
      {text_folders() / "mbart50", special, 3}, {text_folders() / "mbart", special, 3}};
  for (const Case& c : cases) {
    const ModelSpec expected = load_text(c.folder);
    const JsonFolder copy(c.folder);
    const TokenizerSpec model = read_sentencepiece_model(copy.path() / copy.pieces());
    Value tokenizer = tokenizer_of(model, c.special, c.first, "<unk>");
    for (const Language& language : expected.languages.entries)
      tokenizer["added_tokens"].push_back(added(*language.target, language.code));
    write(copy.path(), tokenizer);
    EXPECT_NO_THROW(load_text(copy.path())) << c.folder;  // both are there, and agree
    std::filesystem::remove(copy.path() / copy.pieces());
    const ModelSpec found = load_text(copy.path());
    EXPECT_EQ(found.tokenizer_files, std::vector<std::filesystem::path>{copy.path() / "tokenizer.json"});
    EXPECT_EQ(found.languages.entries.size(), expected.languages.entries.size()) << c.folder;
    EXPECT_EQ(found.generation.unknown_id, expected.generation.unknown_id) << c.folder;
    for (const char* text : texts()) {
      EXPECT_EQ(Segmenter(*found.source_tokenizer).encode(text), Segmenter(*expected.source_tokenizer).encode(text))
          << c.folder << ": " << text;
    }
  }
}

TEST(TokenizerJson, ALineWithOtherIdsIsRefused) {
  const JsonFolder copy(t5_folders() / "t5-0");
  Value tokenizer = t5_json(copy.path());
  Value& vocab = tokenizer["model"]["vocab"];
  std::swap(vocab[10], vocab[11]);
  write(copy.path(), tokenizer);
  test::expect_error([&] { load_text(copy.path()); },
      {"spiece.model", "tokenizer.json", "give different ids to \"", "remove the file"});
}

TEST(TokenizerJson, PartsThatAreNotKnownAreNamedWithTheirValues) {
  const auto refused = [](const std::function<void(Value&)>& change, const std::vector<std::string>& words) {
    const JsonFolder copy(t5_folders() / "t5-0");
    Value tokenizer = t5_json(copy.path());
    change(tokenizer);
    write(copy.path(), tokenizer);
    const ModelSpec warned = load_text(copy.path());  // the SentencePiece model is what counts
    ASSERT_FALSE(warned.warnings.empty());
    EXPECT_NE(warned.warnings[0].find("was not compared with spiece.model"), std::string::npos);
    std::filesystem::remove(copy.path() / "spiece.model");
    test::expect_error([&] { load_text(copy.path()); }, words);
  };
  refused(
      [](Value& t) {
        t["normalizer"] = {{"type", "Lowercase"}};
      },
      {"tokenizer.json: normalizer", "\"type\"", "\"Lowercase\"", "known: \"Precompiled\", \"Replace\""});
  refused(
      [](Value& t) {
        t["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "``"}}}, {"content", "\""}};
      },
      {"normalizer", "\"String\"", "``", "known: \" \""});
  refused(
      [](Value& t) {
        t["pre_tokenizer"]["pretokenizers"][1] = {{"type", "Punctuation"}};
      },
      {"pre_tokenizer: part 1", "\"Punctuation\"", "\"Metaspace\""});
  refused([](Value& t) { t["pre_tokenizer"]["pretokenizers"][1]["prepend_scheme"] = "never"; },
      {"prepend_scheme", "\"never\"", "\"always\""});
  refused([](Value& t) { t["pre_tokenizer"]["pretokenizers"][1]["colour"] = 1; }, {"\"colour\"", "not known"});
  refused(
      [](Value& t) {
        t["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", kMark}};
      },
      {"treat spaces in a way that is not known", "WhitespaceSplit"});
  refused([](Value& t) { t["decoder"] = {{"type", "WordPiece"}}; }, {"decoder", "\"WordPiece\"", "\"ByteFallback\""});
  refused(
      [](Value& t) {
        t["post_processor"] = {{"type", "BertProcessing"}};
      },
      {"post_processor", "\"BertProcessing\"", "\"TemplateProcessing\""});
  refused([](Value& t) { t["model"]["type"] = "WordLevel"; }, {"model", "\"WordLevel\"", "\"Unigram\", \"BPE\""});
  refused([](Value& t) { t["model"]["unk_id"] = Value(); }, {"unk_id", "missing"});
  refused([](Value& t) { t["model"]["vocab"][5][1] = 1e30; }, {"has the score"});
  refused([](Value& t) { t["model"]["vocab"][5][0] = ""; }, {"of id 5", "UTF-8"});
  refused([](Value& t) { t["added_tokens"][0]["id"] = 7; }, {"added_tokens: entry 0", "\"<pad>\""});
}

TEST(TokenizerJson, TheTemplateMustEndASourceAsTheFamilyDoes) {
  const JsonFolder copy(t5_folders() / "t5-0");
  Value tokenizer = t5_json(copy.path());
  Value text = {{"Sequence", {{"id", "A"}}}}, end = {{"SpecialToken", {{"id", "</s>"}}}};
  tokenizer["post_processor"] = {{"type", "TemplateProcessing"}, {"single", Value::list({text, end})}};
  write(copy.path(), tokenizer);
  std::filesystem::remove(copy.path() / "spiece.model");
  EXPECT_NO_THROW(load_text(copy.path()));
  tokenizer["post_processor"]["single"] = Value::list({end, text});
  write(copy.path(), tokenizer);
  test::expect_error([&] { load_text(copy.path()); }, {"post_processor puts \"</s>\" before a text", "expected"});
}

// Merges of another trainer: a list that lacks a pair, or comes back to a piece.
TEST(TokenizerJson, MergesThatSentencePieceWouldNotHaveAreRefused) {
  const auto refused = [](const std::function<void(Value&)>& change, const std::vector<std::string>& words) {
    const JsonFolder copy(text_folders() / "nllb");
    const TokenizerSpec model = read_sentencepiece_model(copy.path() / copy.pieces());
    Value tokenizer = tokenizer_of(model, {"<s>", "<pad>", "</s>", "<unk>"}, 3, "<unk>");
    change(tokenizer["model"]);
    write(copy.path(), tokenizer);
    std::filesystem::remove(copy.path() / copy.pieces());
    test::expect_error([&] { load_text(copy.path()); }, words);
  };
  refused([](Value& m) { m["merges"].items().pop_back(); }, {"merges", "0 of 1 pairs"});
  refused([](Value& m) { m["merges"].push_back(m["merges"][0]); }, {"merges: merge", "as an earlier one does"});
  refused([](Value& m) { m["merges"].push_back("ab"); }, {"merges: merge", "is not a pair"});
  refused([](Value& m) { m["merges"].push_back("q \u00e9q"); }, {"merges: merge", "not in vocab"});
  refused([](Value& m) { m["fuse_unk"] = false; }, {"fuse_unk", "expected true"});
  refused([](Value& m) { m["dropout"] = 0.1; }, {"dropout", "is not 0"});
  refused([](Value& m) { m["end_of_word_suffix"] = "</w>"; }, {"end_of_word_suffix", "\"</w>\""});
}

TEST(TokenizerJson, ByteLevelBpeLeavesAFileOfIds) {
  const JsonFolder copy(t5_folders() / "t5-0");
  std::filesystem::remove(copy.path() / "spiece.model");
  write(copy.path(), {{"pre_tokenizer", {{"type", "ByteLevel"}}}, {"model", {{"type", "BPE"}}}});
  const ModelSpec spec = load_text(copy.path());
  EXPECT_FALSE(spec.source_tokenizer.has_value());
  ASSERT_EQ(spec.warnings.size(), 1u);
  EXPECT_NE(spec.warnings[0].find("byte-level BPE"), std::string::npos);
  std::filesystem::remove(copy.path() / "tokenizer.json");
  test::expect_error([&] { load_text(copy.path()); }, {"spiece.model", "is missing, and so is tokenizer.json"});
}
}}  // namespace goldcrest::converter
