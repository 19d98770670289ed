// Large documents are read by several threads: for comparing that with what one reads.
#pragma once

#include <string>

#include "dtypemut/io/source.h"

namespace dtypemut {

/// Makes a document large, and leaves its meaning and its positions but for what stands behind its first byte.
std::string enlarged(const std::string& text);

/// All that the reader knows of a document, and all that it says about it.
std::string described(const Source& source, unsigned threads);

}  // namespace dtypemut
