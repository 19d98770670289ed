#include "dtypemut/target/arg_tensor.h"

#include <doctest/doctest.h>

#include <numeric>

#include "dtypemut/types/bytes.h"

using namespace dtypemut;

namespace {

using State = Gate::State;

/// A descriptor in hex: HBM, 4D [128, 512, 0, 0], 65536 elements at 0x1122334455667788, of the given dtype.
std::string hbm4d(const std::string& dtype) {
  return "02 02 " + dtype + " 0000000000 80000000 00020000 00000000 00000000 8877665544332211 00000100 00000000 " +
         std::string(16, '0');
}

ArgTensor argTensor(const std::string& hex) { return *readArgTensor(DescriptorKind::kArgTensor, hex, "t"); }
ArgTensor uTensor(const std::string& hex) { return *readArgTensor(DescriptorKind::kUTensor, hex, "t"); }

/// A shape of the given type: the 16 bytes of framework_shape in hex, behind an SBUF location, of FP32 elements.
ArgTensor withShape(const std::string& shapeType, const std::string& shape) {
  return argTensor("01" + shapeType + "0A" + std::string(10, '0') + shape + std::string(48, '0'));
}

std::string spelled(const std::vector<Gate>& gates) {
  std::string text;
  for (const Gate& gate : gates) {
    constexpr std::string_view kStates[] = {"+", "-", "?"};
    text += (text.empty() ? "" : " ") + std::to_string(assertionSiteInfo(gate.site).line) +
            std::string(kStates[static_cast<std::size_t>(gate.state)]);
  }
  return text;
}

std::vector<std::uint32_t> shapeOf(const ArgTensor& tensor) { return {tensor.shape().begin(), tensor.shape().end()}; }

using Shape = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("assertion sites are the rows") {
  for (std::size_t i = 0; i < std::size(kAssertionSites); ++i)
    CHECK(static_cast<std::size_t>(kAssertionSites[i].site) == i);
  CHECK(assertionText(AssertionSite::kSupportedDtype) == "utypes.hpp:37 0");
  CHECK(assertionText(AssertionSite::kHandle) == "utypes.hpp:64 xt_ptr_");
}

TEST_CASE("the fields of a descriptor cover each byte once, whatever the bytes are") {
  for (const DescriptorKind kind : {DescriptorKind::kArgTensor, DescriptorKind::kUTensor}) {
    const std::size_t base = descriptorBytes(kind) - 48;
    std::string content(descriptorBytes(kind), '\0');
    std::iota(content.begin(), content.end(), '\x80');
    for (int location = 0; location < 256; ++location) {
      for (int shapeType = 0; shapeType < 256; ++shapeType) {
        content[base] = static_cast<char>(location);
        content[base + 1] = static_cast<char>(shapeType);
        const ArgTensor tensor = *readArgTensor(kind, content, "t");
        std::string covered;
        for (const DescriptorField& field : tensor.fields) {
          REQUIRE(field.offset == covered.size());
          for (const std::byte byte : field.bytes) covered += static_cast<char>(byte);
        }
        REQUIRE(covered == content);
        REQUIRE(unknownFields(tensor).size() == (location > 2) + (shapeType > 2));
      }
    }
  }
}

TEST_CASE("a tensor in HBM with a 4D shape") {
  const ArgTensor tensor = argTensor(hbm4d("06"));
  CHECK(tensor.location == 2);
  CHECK(tensor.dtype == 6);
  CHECK(tensor.elementCounts == Shape{128, 512, 0, 0});
  CHECK(shapeOf(tensor) == Shape{128, 512});
  CHECK(tensor.shapeElements() == 65536);
  CHECK(tensor.storedElements == 65536);
  CHECK(tensor.storageAddress == 0x1122334455667788);
  CHECK_FALSE(tensor.handle.has_value());
  CHECK(spelled(tensorGates(tensor)) == "94+ 37+ 139+");
}

TEST_CASE("a tensor in SBUF with an 8D shape, inside a UTensor") {
  const ArgTensor tensor = uTensor(
      "0100000000000000 01 00 08 0102030405"
      "0200 0300 0400 0000 0000 0000 0000 0500"
      "78563412 18000000 80 AABBCC 40000000 0102030405060708");
  CHECK(tensor.handle == 1u);
  CHECK(shapeOf(tensor) == Shape{2, 3, 4});
  CHECK(tensor.elementCounts.size() == 8);
  CHECK(tensor.shapeElements() == 24);
  CHECK(tensor.storageAddress == 0x12345678);
  CHECK(tensor.storedElements == 24);
  const auto field = [&](std::string_view name) {
    for (const DescriptorField& candidate : tensor.fields)
      if (candidate.name == name) return candidate;
    FAIL("no such field");
    return DescriptorField{};
  };
  CHECK(field("framework_shape_type").offset == 9);
  CHECK(field("dtype").offset == 10);
  CHECK(field("framework_shape[7]").offset == 30);
  CHECK(field("storage.num_partitions").value == 0x80);
  CHECK(hexFromBytes(field("storage.padding").bytes) == "AABBCC");
  CHECK(field("storage.num_elem_per_block").value == 64);
  CHECK(field("reserved1").offset == 48);
}

TEST_CASE("gates stand in device order, and what cannot be asked is not checked") {
  CHECK(spelled(tensorGates(argTensor(hbm4d("0B")))) == "94+ 37- 139+");
  const ArgTensor outOfLine = withShape("01", "8877665544332211" + std::string(16, '0'));
  CHECK(outOfLine.shapeAddress == 0x1122334455667788);
  CHECK(spelled(tensorGates(outOfLine)) == "94- 37+ 139?");
  CHECK(spelled(scalarGates(outOfLine)) == "37+");
  CHECK(spelled(tensorGates(withShape("02", std::string(32, '0')))) == "94+ 37+ 139-");
  CHECK(spelled(tensorGates(withShape("00", std::string(31, '0') + "1"))) == "94+ 37+ 139-");
  CHECK(spelled(tensorGates(withShape("03", std::string(32, 'F')))) == "94+ 37+ 139?");
}

TEST_CASE("a scalar is one element: a count of 1 and no further dimension") {
  const auto gates4d = [](const std::string& shape) { return spelled(scalarGates(withShape("02", shape))); };
  CHECK(gates4d("01000000" + std::string(24, '0')) == "172+ 37+");
  CHECK(gates4d("05000000" + std::string(24, '0')) == "172- 37+");
  CHECK(gates4d("0100000001000000" + std::string(16, '0')) == "172- 37+");
  CHECK(gates4d("01000000000000000000000001000000") == "172- 37+");
  CHECK(gates4d(std::string(32, '0')) == "172- 37+");
  const auto gates8d = [](const std::string& shape) { return spelled(scalarGates(withShape("00", shape))); };
  CHECK(gates8d("0100" + std::string(28, '0')) == "178+ 37+");
  CHECK(gates8d("01000100" + std::string(24, '0')) == "178- 37+");
  CHECK(gates8d("0100" + std::string(26, '0') + "01") == "178- 37+");
}

TEST_CASE("binding back asks for the handle, then the dtype") {
  const std::string null(16, '0'), handle = "01" + std::string(14, '0');
  CHECK(spelled(copyGates(uTensor(handle + hbm4d("06")), ScalarType::kBFloat16)) == "64+ 37+ 65+");
  CHECK(spelled(copyGates(uTensor(null + hbm4d("06")), ScalarType::kHalf)) == "64- 37+ 65-");
  CHECK(spelled(copyGates(uTensor(handle + hbm4d("0E")), ScalarType::kHalf)) == "64+ 37- 65?");
  CHECK(spelled(copyGates(argTensor(hbm4d("06")), ScalarType::kBFloat16)) == "64? 37+ 65+");
}

TEST_CASE("the dtype gates agree with the tree on every byte and ScalarType") {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const std::optional<ScalarType> type = isaToTorchDtype(byte);
    CHECK((supportedDtypeGate(byte).state == State::kHolds) == type.has_value());
    for (int i = 0; i <= ordinal(ScalarType::kNumOptions); ++i) {
      const auto host = static_cast<ScalarType>(i);
      CHECK(dtypeMatchGate(byte, host).state == (!type           ? State::kNotChecked
                                                 : *type == host ? State::kHolds
                                                                 : State::kFails));
    }
  }
}

TEST_CASE("a product beyond 64 bits is none") {
  CHECK(withShape("02", std::string(32, 'F')).shapeElements() == std::nullopt);
  CHECK(withShape("02", "FFFFFFFFFFFFFFFF" + std::string(16, '0')).shapeElements() == 0xFFFFFFFE00000001);
}

TEST_CASE("descriptors come as bytes or as hex text, of one size") {
  const auto message = [](DescriptorKind kind, std::string_view content) {
    const Result<ArgTensor> tensor = readArgTensor(kind, content, "t.bin");
    REQUIRE_FALSE(tensor);
    CHECK(tensor.error().exitCode() == ExitCode::kRefused);
    CHECK(tensor.error().begin()->file == "t.bin");
    return tensor.error().begin()->message;
  };
  const std::string zeros(48, '\0');
  CHECK(readArgTensor(DescriptorKind::kArgTensor, zeros, "t.bin"));
  CHECK(readArgTensor(DescriptorKind::kArgTensor, "0x" + std::string(96, '0') + "\r\n", "t.bin"));
  CHECK(message(DescriptorKind::kArgTensor, zeros + "\n") == "found 49 bytes, expected 48 bytes of an ARG_TENSOR");
  CHECK(message(DescriptorKind::kUTensor, zeros) == "found 48 bytes, expected 56 bytes of a UTensor");
  CHECK(message(DescriptorKind::kArgTensor, "") == "found 0 bytes of hex text, expected 48 bytes of an ARG_TENSOR");
  CHECK(message(DescriptorKind::kArgTensor, std::string(94, '0')) ==
        "found 47 bytes of hex text, expected 48 bytes of an ARG_TENSOR");
  CHECK(message(DescriptorKind::kArgTensor, std::string(95, '0')) ==
        "an odd number of hex digits (95), expected 48 bytes of an ARG_TENSOR");
  CHECK(message(DescriptorKind::kArgTensor, std::string(95, '0') + "g") ==
        "byte 95 is no hex digit, expected 48 bytes of an ARG_TENSOR");
  // Of the right size and yet no hex digits: bytes.
  CHECK(readArgTensor(DescriptorKind::kArgTensor, std::string(48, 'z'), "t.bin")->location == 'z');
}
