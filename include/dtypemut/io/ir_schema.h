// The IR for other tools: editors, validators, generators (`dtypemut schema`).
#pragma once

#include <string>

namespace dtypemut {

/// A JSON Schema (2020-12) of a document, with a final line end. It takes every document that the reader takes, and
/// refuses what can be refused without looking at two places of a document at once: names may still clash, references
/// lead nowhere, data have the wrong length.
std::string irSchema();

}  // namespace dtypemut
