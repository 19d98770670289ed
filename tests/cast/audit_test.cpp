#include "dtypemut/cast/audit.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "dtypemut/cast/cast.h"

using namespace dtypemut;

namespace {

using Bits = std::vector<std::uint32_t>;

float quotientRoundedUp(double a, float b) {
  const float quotient = static_cast<float>(a / b);
  return double{quotient} * b < a ? std::nextafter(quotient, 1e38f) : quotient;
}

/// The definition of spec 9, one value after the other.
Audit slowAudit(const Bits& inputs, const Bits& results, Dtype to) {
  Audit audit;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const float input = std::bit_cast<float>(inputs[i]);
    const float result = std::bit_cast<float>(results[i]);
    std::byte element[8];
    ++audit.elements;
    if (std::isnan(input)) {
      ++audit.nan;
    } else if (std::isinf(input)) {
      ++audit.inf;
    } else if (encodeElement(inputs[i], to, element)) {
      ++audit.overflow;
    } else {
      const double error = std::abs(double{result} - double{input});
      audit.maxAbsError = std::max(audit.maxAbsError, static_cast<float>(error));
      if (input != 0 && result == 0)
        ++audit.underflow;
      else if (input != 0)
        audit.maxRelError = std::max(audit.maxRelError, quotientRoundedUp(error, std::abs(input)));
    }
  }
  return audit;
}

Audit auditOf(const Bits& inputs, Dtype to, const CastOptions& options = {}) {
  std::vector<std::byte> out(byteCount(to, inputs.size()).value());
  Audit audit;
  castBytes(Dtype::kFloat32, std::as_bytes(std::span(inputs)), to, out, options, audit);
  std::vector<std::byte> plain(out.size());
  encodeValues(inputs, to, plain, options);
  CHECK(out == plain);
  Bits results(inputs.size());
  decodeValues(to, out, results);
  CHECK(audit == slowAudit(inputs, results, to));
  return audit;
}

Audit auditOf(std::initializer_list<float> inputs, Dtype to, const CastOptions& options = {}) {
  Bits bits;
  for (float input : inputs) bits.push_back(std::bit_cast<std::uint32_t>(input));
  return auditOf(bits, to, options);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("what overflows is told whether it saturates or not") {
  for (bool saturate : {true, false}) {
    const CastOptions options{.saturate = saturate, .nanSuppress = false};
    const Audit audit =
        auditOf({464.0f, 464.0001f, -1000.0f, kInfinity, -kInfinity, kNan, 1.0f}, Dtype::kFloat8E4m3fn, options);
    CHECK(audit.overflow == 2);
    CHECK(audit.inf == 2);
    CHECK(audit.nan == 1);
    CHECK(audit.underflow == 0);
    CHECK(audit.maxAbsError == 16.0f);
    CHECK(audit.maxRelError == quotientRoundedUp(16.0f, 464.0f));
  }
  CHECK(auditOf({65519.0f, 65520.0f, -65520.0f, 1e30f}, Dtype::kFloat16).overflow == 3);
  CHECK(auditOf({std::numeric_limits<float>::max()}, Dtype::kBfloat16).overflow == 1);
  CHECK(auditOf({247.9f, 248.0f}, Dtype::kFloat8e4).overflow == 1);
  CHECK(auditOf({6.9f, 7.0f, -8.0f, 6.0f}, Dtype::kFloat4E2m1X4).overflow == 2);
}

TEST_CASE("what vanishes is an underflow and has no relative error") {
  const Audit audit = auditOf({1e-12f, -1e-12f, 0.0f, -0.0f, 0x1p-24f, 0x1p-25f}, Dtype::kFloat16);
  CHECK(audit.elements == 6);
  CHECK(audit.underflow == 3);
  CHECK(audit.maxAbsError == 0x1p-25f);
  CHECK(audit.maxRelError == 0.0f);
  CHECK(auditOf({kNan, -kNan}, Dtype::kFloat8e5, {.saturate = true, .nanSuppress = true}).underflow == 0);
}

TEST_CASE("an exact cast has no errors") {
  const Audit audit = auditOf({1.0f, -0.5f, kNan, kInfinity, 1e-40f}, Dtype::kFloat32);
  CHECK(audit == Audit{.elements = 5, .nan = 1, .inf = 1});
}

TEST_CASE("what is below zero overflows an unsigned dtype") {
  const Audit audit = auditOf({-1.0f, -0.4f, 0.4f, 255.0f, 256.0f}, Dtype::kUint8);
  CHECK(audit.overflow == 2);
  CHECK(audit.underflow == 2);
  CHECK(auditOf({-129.0f, -128.0f, 127.4f, 127.5f}, Dtype::kInt8).overflow == 2);
}

TEST_CASE("audits of every dtype and length agree with the definition") {
  std::mt19937 random(7);
  for (const DtypeInfo& info : kDtypes) {
    CAPTURE(info.name);
    for (std::size_t length : {0u, 4u, 8u, 28u, 64u, 132u, 2048u, 2052u, 10'000u}) {
      Bits bits(length);
      for (std::uint32_t& value : bits) value = static_cast<std::uint32_t>(random());
      auditOf(bits, info.dtype);
      // Exponents near one, where most formats have their range.
      for (std::uint32_t& value : bits)
        value = static_cast<std::uint32_t>((random() & 0x80FFFFFF) | (0x38000000 + (random() % 16 << 24)));
      auditOf(bits, info.dtype);
    }
  }
}

TEST_CASE("other sources are audited by their float32 values") {
  std::vector<std::byte> halves = {std::byte{0x00}, std::byte{0x7C}, std::byte{0x01}, std::byte{0x00},
                                   std::byte{0xFF}, std::byte{0x7B}, std::byte{0x00}, std::byte{0xFE}};
  std::vector<std::byte> out(4);
  Audit audit;
  castBytes(Dtype::kFloat16, halves, Dtype::kFloat8e4, out, {}, audit);
  CHECK(audit.inf == 1);
  CHECK(audit.nan == 1);
  CHECK(audit.overflow == 1);
  CHECK(audit.underflow == 1);

  std::vector<std::byte> same(halves.size());
  Audit identity;
  castBytes(Dtype::kFloat16, halves, Dtype::kFloat16, same, {}, identity);
  CHECK(same == halves);
  CHECK(identity == Audit{.elements = 4, .nan = 1, .inf = 1});
}

TEST_CASE("audits add up in any order") {
  const Audit a{.elements = 3, .nan = 1, .overflow = 2, .maxAbsError = 0.5f};
  const Audit b{.elements = 4, .inf = 1, .underflow = 1, .maxAbsError = 0.25f, .maxRelError = 1.0f};
  Audit ab = a;
  ab += b;
  Audit ba = b;
  ba += a;
  CHECK(ab == ba);
  CHECK(
      ab ==
      Audit{
          .elements = 7, .nan = 1, .inf = 1, .overflow = 2, .underflow = 1, .maxAbsError = 0.5f, .maxRelError = 1.0f});
}
