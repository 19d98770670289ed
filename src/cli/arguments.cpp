#include "arguments.h"

#include <charconv>
#include <system_error>
#include <vector>

#include "dtypemut/passes/reason.h"
#include "dtypemut/types/spelling.h"

namespace dtypemut::cli {
namespace {

std::string guess(const std::string& text, const std::vector<std::string_view>& names, const std::string& expected) {
  if (const auto nearest = nearestName(text, names)) return " (did you mean '" + std::string(*nearest) + "'?)";
  return "; expected one of " + expected;
}

std::string isFileName(const std::string& path) { return path.empty() ? "must name a file, not ''" : ""; }

}  // namespace

Target parseTarget(const std::string& text) {
  if (const auto found = targetFromArgument(text)) return *found;
  std::vector<std::string_view> names;
  std::string expected;
  for (const Target& row : targets()) {
    names.push_back(row.name);
    appendEntries(names, row.aliases);
    expected += (expected.empty() ? "" : ", ") + std::string(row.name);
  }
  throw CLI::ValidationError("--target", "unknown target '" + text + "'" + guess(text, names, expected));
}

Dtype parseDtype(const std::string& option, const std::string& text) {
  const DtypeSet accepted = targets().back().requestableDtypes();
  const auto found = dtypeFromArgument(text);
  if (found && accepted.contains(*found)) return *found;
  if (found)
    throw CLI::ValidationError(option, std::string(dtypeName(*found)) +
                                           " is none of the dtypes that can be asked for: " + accepted.toString());
  std::vector<std::string_view> names;
  for (const DtypeInfo& info : kDtypes) {
    if (!accepted.contains(info.dtype)) continue;
    names.push_back(info.name);
    appendEntries(names, info.shorthands);
  }
  throw CLI::ValidationError(option, "unknown dtype '" + text + "'" + guess(text, names, accepted.toString()));
}

CLI::Option* addGraphArgument(CLI::App& command, std::string& path) {
  return command.add_option("GRAPH", path, "The graph, a JSON document; - is stdin")
      ->required()
      ->type_name("")
      ->check(isFileName);
}

CLI::Option* addGraphsArgument(CLI::App& command, std::vector<std::string>& paths) {
  return command.add_option("GRAPH", paths, "The graph, a JSON document; - is stdin; several with --output-dir")
      ->required()
      ->type_name("")
      ->check(isFileName);
}

CLI::Option* addFileOption(CLI::App& command, const std::string& name, std::string& path,
                           const std::string& description) {
  return command.add_option(name, path, description)->type_name("FILE")->check(isFileName);
}

CLI::Option* addTargetOption(CLI::App& command, std::optional<Target>& target) {
  return command
      .add_option_function<std::string>(
          "--target", [&target](const std::string& text) { target = parseTarget(text); },
          "tonga (inf1, v1), sunda (trn1, inf2, v2), cayman (trn2, v3), mariana (trn3, v4), maverick (trn4, v5)")
      ->type_name("TARGET");
}

CLI::Option* addDtypeOption(CLI::App& command, Dtype& dtype) {
  return command
      .add_option_function<std::string>(
          "--dtype,--auto-cast-type", [&dtype](const std::string& text) { dtype = parseDtype("--dtype", text); },
          "The dtype to move to: bf16, fp16, fp32, fp32r, fp8e3, fp8e4, fp8e5, fp8_e4m3fn, or a full name")
      ->type_name("DTYPE");
}

CLI::Option* addFromOption(CLI::App& command, DtypeSet& from) {
  return command
      .add_option_function<std::vector<std::string>>(
          "--from",
          [&from](const std::vector<std::string>& texts) {
            from = {};
            for (const std::string& text : texts) from.insert(parseDtype("--from", text));
          },
          "The dtypes to replace, comma-separated or repeated (default: float32)")
      ->type_name("DTYPE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
}

void addFp8Options(CLI::App& command, CastOptions& cast) {
  command.add_flag_callback(
      "--disable-fp8-saturation", [&cast] { cast.saturate = false; },
      "Overflow in a cast to fp8 gives Inf, or NaN where there is no Inf, instead of the largest value");
  command.add_flag_callback(
      "--enable-fp8-nan-suppression", [&cast] { cast.nanSuppress = true; },
      "NaN in a cast to fp8 gives a zero of its sign");
}

CLI::Option* addThreadsOption(CLI::App& command, unsigned& threads) {
  return command
      .add_option_function<std::string>(
          "--threads",
          [&threads](const std::string& text) {
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
            if (error != std::errc{} || end != text.data() + text.size() || threads == 0)
              throw CLI::ValidationError("--threads", "'" + text + "' is no number of threads, 1 or more");
          },
          "Work on at most so many threads (default: all); the result is the same")
      ->type_name("N");
}

CLI::Option* addListOption(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                           const std::string& description, const std::string& typeName) {
  return command.add_option(name, values, description)->type_name(typeName)->allow_extra_args(false)->take_all();
}

void throwUnknown(const std::string& option, const std::string& what, const std::string& text,
                  const std::vector<std::string_view>& names) {
  std::string expected;
  for (std::string_view name : names) expected += (expected.empty() ? "" : ", ") + std::string(name);
  throw CLI::ValidationError(option, "unknown " + what + " '" + text + "'" + guess(text, names, expected));
}

std::vector<std::string_view> failOnNames() {
  std::vector<std::string_view> names = {"shared", "mismatch", "overflow", "underflow"};
  for (const ReasonInfo& info : kReasons) names.push_back(info.name);
  return names;
}

std::size_t parseChoice(const std::string& option, const std::string& text,
                        std::initializer_list<std::string_view> names) {
  std::string expected;
  std::size_t position = 0;
  for (std::string_view name : names) {
    if (equalsIgnoringCase(name, text)) return position;
    expected += (expected.empty() ? "" : ", ") + std::string(name);
    ++position;
  }
  throw CLI::ValidationError(
      option, "unknown choice '" + text + "'" + guess(text, std::vector<std::string_view>(names), expected));
}

}  // namespace dtypemut::cli
