// What `decode` answers (spec 8), as text and as JSON. All answers come from the table of codes, the wrapper's trees
// and the gates; nothing here knows a code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/cast/isa_scalar.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/target/arg_tensor.h"
#include "dtypemut/target/target.h"
#include "dtypemut/types/isa_dtype.h"

namespace dtypemut {

/// Columns for the codes that have a ScalarType; nothing for the others. With a target, those that its header does not
/// name are marked.
std::string isaCodesText(std::span<const std::uint8_t> codes, const Target* target);

/// All that is known about the codes, in columns; enumerators are those of the target, or of the newest headers.
std::string isaTableText(std::span<const std::uint8_t> codes, const Target* target);

/// Notes on a table for a target: codes that the wrapper maps although the table, as the header, leaves them out.
std::vector<Diagnostic> tableNotes(const Target* target);

/// An array with an object for each code, whether it has a ScalarType or not. With a host type, each says whether the
/// dtype-match gate would let it pass.
std::string isaCodesJson(std::span<const std::uint8_t> codes, const Target* target,
                         std::optional<ScalarType> hostType = std::nullopt);

/// The words that --field takes.
inline constexpr std::string_view kIsaFields[] = {"name", "size", "scalar-type", "ordinal"};
/// That one word about a code; none where it has none.
std::optional<std::string> isaFieldWord(std::uint8_t code, std::string_view field);

/// The code that a ScalarType comes from: an object like those of isaCodesJson, or one without a code and with a
/// reason.
std::string reverseJson(ScalarType type, const Target* target);
/// Why a ScalarType comes from no code. It must be such a type.
Diagnostic reverseFailure(ScalarType type);

/// Reads back exactly. A double always shows that it is one.
std::string scalarText(const ScalarValue& value);
/// `value` is that of `element`, or none because of `errors`; `gates` are those that were asked.
std::string scalarJson(std::uint8_t code, std::span<const std::byte> element, const std::optional<ScalarValue>& value,
                       std::span<const Gate> gates, std::span<const Diagnostic> errors);

/// Every field, what they say together, and the gates.
std::string argTensorText(const ArgTensor& tensor, std::span<const Gate> gates);
std::string argTensorJson(const ArgTensor& tensor, std::span<const Gate> gates, const Target* target,
                          const std::string& file);

/// An error (kNo) for each gate that fails: the code where the gate is about it, the assertion, the detail. `file` is
/// the descriptor's; empty when only a code is asked about. With a target, a code that its header does not name is said
/// to be such.
std::vector<Diagnostic> gateFailures(std::span<const Gate> gates, std::uint8_t code, const Target* target,
                                     const std::string& file = {});
/// What no gate guards: an error (kNo) for each unknown field, a warning for what is odd.
std::vector<Diagnostic> argTensorDiagnostics(const ArgTensor& tensor, const std::string& file);
/// An error (kNo) for whatever keeps a descriptor from becoming a c10::Scalar.
std::vector<Diagnostic> scalarDiagnostics(const ArgTensor& tensor, std::span<const Gate> gates,
                                          const std::string& file);

}  // namespace dtypemut
