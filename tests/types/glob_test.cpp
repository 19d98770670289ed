#include "dtypemut/types/glob.h"

#include <doctest/doctest.h>

using namespace dtypemut;
using namespace std::string_view_literals;

TEST_CASE("a glob fits whole names") {
  CHECK(matchesGlob("a*c", "a/b.c"));
  CHECK(matchesGlob("?[x-z]", "ay"));
  CHECK_FALSE(matchesGlob("a", "ab"));
  CHECK_FALSE(matchesGlob("", "a"));
  CHECK(matchesGlob("*", ""));
}

TEST_CASE("a NUL in a name is a character, not its end") {
  CHECK_FALSE(matchesGlob("a", "a\0b"sv));
  CHECK_FALSE(matchesGlob("", "\0"sv));
  CHECK(matchesGlob("a?b", "a\0b"sv));
  CHECK(matchesGlob("*b", "a\0b"sv));
  CHECK(matchesGlob("a*", "a\0b"sv));
}
