// SPDX-License-Identifier: Apache-2.0
// Makes the views of tables that few files have: languages, lexicons.
#include "base/exact_floats.h"
#include "base/build_options.h"
#include "model/model_view.h"
#include "schema/model_reader_generated.h"

namespace goldcrest {
using NumberList = format::Vector<uint32_t>;  // offsets of texts too: one function reads all lists

bool view_languages(const void* model, LanguagesView* view) {
  const format::Languages* table = format::GetModel(model)->languages();
  if (table == nullptr) return false;
  using format::Languages;
  static_assert(Languages::VT_TARGET == Languages::VT_SOURCE + 2 &&
                Languages::VT_TARGET_PLACE == Languages::VT_SOURCE_PLACE + 2 &&
                Languages::VT_DEFAULT_TARGET == Languages::VT_DEFAULT_SOURCE + 2);
  const format::Table& fields = *table;
  const NumberList* const codes = fields.content<NumberList>(Languages::VT_CODE);
  view->n = codes != nullptr ? codes->size() : 0;
  for (uint32_t i = 0; i < 2; ++i) {
    const auto field = [i](uint32_t of_sources) { return static_cast<format::Slot>(of_sources + 2 * i); };
    LanguageSide& side = view->sides[i];
    const NumberList* const ids = fields.content<NumberList>(field(Languages::VT_SOURCE));
    static_cast<IdList&>(side) = {ids != nullptr ? ids->data() : nullptr, ids != nullptr ? ids->size() : 0};
    side.by_default = static_cast<uint32_t>(fields.number<int32_t>(field(Languages::VT_DEFAULT_SOURCE), -1));
    side.place = static_cast<LanguagePlace>(fields.number<uint8_t>(field(Languages::VT_SOURCE_PLACE), 0));
  }
  return true;
}

const char* view_language_code(const void* model, uint32_t language) {
  const format::Table& fields = *format::GetModel(model)->languages();
  const uint32_t* const offset = fields.content<NumberList>(format::Languages::VT_CODE)->data() + language;
  return reinterpret_cast<const char*>(offset) + *offset + sizeof(uint32_t);  // after the text's length
}

bool view_lexicon(const void* model, goldcrest_lexicon* view) {
  const format::Vector<uint32_t>* const list = format::GetModel(model)->lexicon();
  if (list == nullptr || list->size() < 2 || list->data()[0] > list->size() - 2) return false;
  const uint32_t n_nodes = list->data()[0];
  const uint32_t* const first_edge = list->data() + 1;
  *view = {first_edge, reinterpret_cast<const goldcrest_lexicon_edge*>(first_edge + n_nodes + 1), n_nodes,
      (list->size() - n_nodes - 2) / 2};
  return true;
}
}  // namespace goldcrest
