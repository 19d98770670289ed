// Taking back what a run did to a document, token by token.
#pragma once

#include <string>

namespace dtypemut {

/// A document as text, and the folder that its references are relative to.
struct PlacedText {
  std::string text;
  std::string folder;
};

/// The output of a run with everything put back that spec 6 lets it replace: the dtypes of instructions and tensors,
/// the tensors that loads read, cast weights, and references to files where the output stands elsewhere. What comes out
/// must be the input. Checks on the way that each cast weight stands where it should and differs from its original in
/// name, dtype and data only.
std::string undone(const PlacedText& input, const PlacedText& output);

}  // namespace dtypemut
