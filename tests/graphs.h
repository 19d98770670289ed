// Small documents for tests, in few words, and their graphs.
//
// Operands are words: x reads tensor x, x:int32 reads its bits as int32, @p is the result of instruction p, #0.5 an
// immediate. A dst is x or x:int32 likewise, or "" for none. A ^ before a name, dtype or word marks the place where a
// diagnostic is expected; see Marked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/source.h"
#include "dtypemut/ir/graph.h"
#include "dtypemut/target/target.h"

namespace dtypemut::graphs {

// ---- parts of documents; `rest` is further members, as JSON
std::string tensor(const std::string& name, const std::string& dtype, const std::string& rest);
std::string input(const std::string& name, const std::string& dtype = "float32");
std::string output(const std::string& name, const std::string& dtype = "float32");
std::string sbuf(const std::string& name, const std::string& dtype = "float32");
std::string psum(const std::string& name, const std::string& dtype = "float32");
/// Consts: one value for all elements; bytes of zeros, four elements.
std::string splat(const std::string& name, const std::string& dtype = "float32");
std::string weight(const std::string& name, const std::string& dtype = "float32");

/// A dtype "" leaves the key out.
std::string op(const std::string& name, const std::string& opName, const std::string& operands, const std::string& dst,
               const std::string& dtype = "float32", const std::string& rest = "");

/// One part per line: tensor i stands on line 2 + i, instruction k on line 3 + number of tensors + k.
std::string document(const std::vector<std::string>& tensors, const std::vector<std::string>& instructions);

/// A text without its marks, and LINE:COLUMN of each.
struct Marked {
  explicit Marked(std::string_view textWithMarks);
  std::string text;
  std::vector<std::string> places;
};

// ---- graphs

/// A document whose reading must succeed: the test ends otherwise.
class Document {
 public:
  explicit Document(std::string_view text, const std::string& folder = ".");

  const Source source;
  Graph graph;

  TensorId tensor(std::string_view name) const;
  InstructionId instruction(std::string_view name) const;
  OperandId operand(std::string_view instruction, std::uint32_t index = 0) const;
  Dtype dtypeOf(std::string_view tensor) const { return graph.tensor(this->tensor(tensor)).dtype; }
  Dtype resultOf(std::string_view instruction) const { return graph.instruction(this->instruction(instruction)).dtype; }
};

/// All that a pass may change, for comparing a graph with itself at another time.
std::vector<std::uint64_t> snapshot(const Graph& graph);

/// Errors as text, one per line without the file's name; "" when there are none.
std::string errorText(const Diagnostics& diagnostics, const Source& source);

}  // namespace dtypemut::graphs
