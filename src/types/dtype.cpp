#include "dtypemut/types/dtype.h"

#include "dtypemut/types/spelling.h"

namespace dtypemut {

std::optional<Dtype> dtypeFromName(std::string_view name) {
  for (const DtypeInfo& info : kDtypes)
    if (info.name == name) return info.dtype;
  return std::nullopt;
}

std::optional<Dtype> dtypeFromArgument(std::string_view text) {
  for (const DtypeInfo& info : kDtypes)
    if (equalsIgnoringCase(info.name, text) || listContains(info.shorthands, text)) return info.dtype;
  return std::nullopt;
}

std::vector<std::string_view> dtypeSpellings() {
  std::vector<std::string_view> spellings;
  for (const DtypeInfo& info : kDtypes) {
    spellings.push_back(info.name);
    appendEntries(spellings, info.shorthands);
  }
  return spellings;
}

std::string DtypeSet::toString() const {
  std::string text;
  for (const DtypeInfo& info : kDtypes) {
    if (!contains(info.dtype)) continue;
    if (!text.empty()) text += ", ";
    text += info.name;
  }
  return text;
}

}  // namespace dtypemut
