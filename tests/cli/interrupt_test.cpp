// Whatever ends a run, nothing is lost: signals at any moment, readers that go away, limits on files and memory.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "dtypemut/io/safetensors.h"
#include "files.h"
#include "golden.h"

namespace fs = std::filesystem;
using namespace dtypemut;
using golden::Files;

namespace {

struct Start {
  std::vector<std::string> arguments;      // of dtypemut
  std::string folder;                      // to work in; what is printed on stderr goes to the file `log` beside it
  std::optional<int> ignored = {};         // a signal
  std::optional<rlim_t> memory = {};       // how many bytes of addresses it may have
  std::optional<rlim_t> sizeOfFiles = {};  // that it writes
  std::optional<rlim_t> openFiles = {};    // at once, unless it asks for more
};

/// The built command on its own, with the usual meaning of signals whatever they mean to the tests.
class Process {
 public:
  explicit Process(const Start& start) {
    std::vector<char*> argv;
    std::string command = DTYPEMUT_COMMAND;
    std::vector<std::string> arguments = start.arguments;
    argv.push_back(command.data());
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string log = start.folder + ".log";
    // No signal may reach the child while the handlers of the tests are still its own.
    sigset_t all;
    sigset_t usual;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &usual);
    id_ = ::fork();
    if (id_ == 0) exec(start, argv.data(), log.c_str());
    ::sigprocmask(SIG_SETMASK, &usual, nullptr);
    REQUIRE(id_ >= 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (id_ < 0) return;
    send(SIGKILL);
    wait();
  }

  void send(int signal) const { ::kill(id_, signal); }
  /// How it ended, as waitpid says.
  int wait() {
    int status = 0;
    REQUIRE(::waitpid(id_, &status, 0) == id_);
    id_ = -1;
    return status;
  }

 private:
  [[noreturn]] static void exec(const Start& start, char** argv, const char* log) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGXFSZ})
      std::signal(signal, signal == start.ignored ? SIG_IGN : SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const auto limit = [](auto resource, std::optional<rlim_t> most) {
      const struct rlimit limits { *most, *most };
      ::setrlimit(resource, &limits);
    };
    limit(RLIMIT_CORE, 0);
    if (start.sizeOfFiles) limit(RLIMIT_FSIZE, start.sizeOfFiles);
    if (start.memory) limit(RLIMIT_AS, start.memory);
    struct rlimit files {};
    ::getrlimit(RLIMIT_NOFILE, &files);
    if (start.openFiles) files.rlim_cur = *start.openFiles;
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::dup2(::open("/dev/null", O_RDWR), STDIN_FILENO);
    ::dup2(STDIN_FILENO, STDOUT_FILENO);
    ::dup2(::open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
    if (::chdir(start.folder.c_str()) == 0) ::execv(argv[0], argv);
    ::_exit(126);
  }

  pid_t id_;
};

bool exitedWith(int status, int exitCode) { return WIFEXITED(status) && WEXITSTATUS(status) == exitCode; }
bool diedOf(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

/// A graph with a weight of `count` elements in a file of its own, and with `layers` compute ops.
Files graphWithWeight(std::size_t count, std::size_t layers) {
  const std::string shape = "\"shape\": [" + std::to_string(count) + "]";
  const auto tensor = [&](const std::string& name, const std::string& more) {
    return "{\"name\": \"" + name + "\", \"dtype\": \"float32\", " + shape + more + "}";
  };
  std::string tensors = tensor("w", R"(, "kind": "const", "data": {"file": "w.bin"})") + ",\n" + tensor("s0", "");
  std::string instructions =
      R"({"name": "l", "op": "SBAtomLoad", "dtype": "float32", "operands": [{"tensor": "w"}], "dst": {"tensor": "s0"}})";
  for (std::size_t i = 1; i <= layers; ++i) {
    const std::string number = std::to_string(i);
    tensors += ",\n" + tensor("s" + number, "");
    instructions += ",\n{\"name\": \"a" + number +
                    "\", \"op\": \"ActivationOp\", \"dtype\": \"float32\", \"operands\": [{\"tensor\": \"s" +
                    std::to_string(i - 1) + "\"}], \"dst\": {\"tensor\": \"s" + number + "\"}}";
  }
  std::string weight(4 * count, '\0');
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<char>(i * 37 % 61);
  return {{"g.json", "{\"tensors\": [\n" + tensors + "],\n\"instructions\": [\n" + instructions + "]}\n"},
          {"w.bin", weight}};
}

void write(const std::string& folder, const Files& files) {
  for (const auto& [name, bytes] : files) writeFile(folder + "/" + name, bytes);
}

Files operator+(Files a, const Files& b) {
  for (const auto& [name, bytes] : b) a[name] = bytes;
  return a;
}

bool isTemporary(const fs::path& path) { return path.filename().string().starts_with(".dtypemut-"); }

bool hasTemporary(const std::string& folder) {
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return isTemporary(entry.path()); });
}

const std::vector<std::string> kRun = {"run", "g.json", "--target", "trn2", "--dtype", "bf16", "--quiet"};

std::vector<std::string> runWith(std::vector<std::string> more) {
  std::vector<std::string> arguments = kRun;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// A checkpoint of so many files, each with a tensor of one element.
Files checkpoint(int shards) {
  Files files;
  std::string map;
  for (int i = 0; i < shards; ++i) {
    const std::string number = std::to_string(i);
    SafetensorsHeader header;
    header.append("t" + number, Dtype::kFloat32, {1}, 4);
    files[number + ".safetensors"] = *writeSafetensorsHeader(header, "") + std::string(4, '\0');
    map += (map.empty() ? "\"t" : ",\"t") + number + "\":\"" + number + ".safetensors\"";
  }
  files["model.safetensors.index.json"] = R"({"metadata":{},"weight_map":{)" + map + "}}";
  return files;
}

const std::vector<std::string> kCast = {"cast",   "model.safetensors.index.json", "--dtype", "bf16", "-o", "out",
                                        "--quiet"};

/// A folder that runs are started in.
class Place {
 public:
  explicit Place(const Files& files) { reset(files); }
  const std::string& path() const { return path_; }
  std::string log() const { return readFile(path_ + ".log"); }
  Files files() const { return golden::readFiles(path_); }
  void reset(const Files& files) const {
    fs::remove_all(path_);
    fs::create_directory(path_);
    write(path_, files);
  }

 private:
  ScratchFolder scratch_;
  std::string path_ = scratch_ / "place";
};

/// A run that cannot end: it has written everything into temporary files, and now waits for a reader of the pipe that
/// one more report goes to.
class WaitingRun {
 public:
  explicit WaitingRun(std::optional<int> ignored = {}) : place_(kBefore) {
    REQUIRE(::mkfifo(pipe().c_str(), 0600) == 0);
    process_.emplace(Start{.arguments = runWith({"-o", "out.json", "--stats", "stats.json", "--remarks", "pipe"}),
                           .folder = place_.path(),
                           .ignored = ignored});
    while (!hasTemporary(place_.path())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Process& process() { return *process_; }
  const Place& place() const { return place_; }
  std::string pipe() const { return place_.path() + "/pipe"; }

  static inline const Files kBefore =
      graphWithWeight(1000, 3) + Files{{"out.json", "old"}, {"out.safetensors", "old"}, {"stats.json", "old"}};

 private:
  Place place_;
  std::optional<Process> process_;
};

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCanLimitMemory = false;
#elif defined(__has_feature)
constexpr bool kCanLimitMemory = !__has_feature(address_sanitizer);
#else
constexpr bool kCanLimitMemory = true;
#endif

}  // namespace

TEST_CASE("a signal ends a run, which leaves everything as it was") {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    CAPTURE(signal);
    WaitingRun run;
    run.process().send(signal);
    CHECK(diedOf(run.process().wait(), signal));
    CHECK(run.place().files() == WaitingRun::kBefore);
    CHECK(run.place().log() == "");
  }
}

TEST_CASE("what cannot be caught leaves temporary files, and the old ones as they were") {
  WaitingRun run;
  run.process().send(SIGKILL);
  CHECK(diedOf(run.process().wait(), SIGKILL));
  Files files = run.place().files();
  CHECK(std::erase_if(files, [](const auto& file) { return isTemporary(file.first); }) > 0);
  CHECK(files == WaitingRun::kBefore);
}

TEST_CASE("a signal that was ignored from the start, as by nohup, stays ignored") {
  WaitingRun run(SIGHUP);
  run.process().send(SIGHUP);
  CHECK(readFile(run.pipe()) != "");
  CHECK(exitedWith(run.process().wait(), 0));
  CHECK_FALSE(hasTemporary(run.place().path()));
  for (const char* name : {"out.json", "out.safetensors", "stats.json"}) CHECK(run.place().files()[name] != "old");
}

TEST_CASE("two hundred runs that end at random moments") {
  struct Kind {
    std::vector<std::string> arguments;
    Files before;
    Files after;
  };
  const Files inputs = graphWithWeight(500'000, 2'000);
  std::vector<Kind> kinds = {
      {.arguments = runWith({"-o", "out.json", "--stats", "stats.json"}),
       .before = inputs + Files{{"out.json", "old"}, {"out.safetensors", "old"}, {"stats.json", "old"}},
       .after = {}},
      {.arguments = runWith({"-o", "g.json", "--remarks", "remarks"}), .before = inputs, .after = {}}};
  const Place place(inputs);
  std::chrono::microseconds longest{0};
  for (Kind& kind : kinds) {
    place.reset(kind.before);
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(exitedWith(Process({.arguments = kind.arguments, .folder = place.path()}).wait(), 0));
    longest = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    kind.after = place.files();
    for (const auto& [name, bytes] : kind.before)
      if (bytes == "old") CHECK(kind.after[name] != "old");
  }

  std::mt19937 random(1);
  int undisturbed = 0;
  for (int i = 0; i < 200; ++i) {
    const Kind& kind = kinds[random() % kinds.size()];
    const int signal = std::vector{SIGINT, SIGTERM, SIGKILL}[random() % 3];
    const std::chrono::microseconds moment(random() % static_cast<unsigned long>(longest.count()));
    CAPTURE(i);
    CAPTURE(signal);
    CAPTURE(moment.count());
    place.reset(kind.before);
    Process process({.arguments = kind.arguments, .folder = place.path()});
    std::this_thread::sleep_for(moment);
    process.send(signal);
    const int status = process.wait();

    Files files = place.files();
    CHECK((exitedWith(status, 0) || diedOf(status, signal)));
    undisturbed += exitedWith(status, 0);
    if (exitedWith(status, 0)) {
      CHECK(files == kind.after);
    } else if (signal == SIGKILL) {
      std::erase_if(files, [](const auto& file) { return isTemporary(file.first); });
      for (const auto& [name, bytes] : kind.after) {
        const auto old = kind.before.find(name);
        CHECK((files[name] == bytes || files[name] == (old == kind.before.end() ? "" : old->second)));
      }
    } else {
      CHECK((files == kind.before || files == kind.after));
    }
  }
  MESSAGE(undisturbed << " of the runs were done before the signal came");
}

TEST_CASE("a reader that has seen enough makes a run fail that has not written all") {
  const Files before = graphWithWeight(10, 5'000) + Files{{"stats.json", "old"}};
  const Place place(before);
  const std::string run = std::string(DTYPEMUT_COMMAND) + " run g.json --target trn2 --dtype bf16 --stats stats.json";
  const std::string command =
      "cd '" + place.path() + "' && { " + run + " 2>../log; echo $? >../status; } | head -n 1 >../line";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(readFile(place.path() + "/../status") == "3\n");
  CHECK(readFile(place.path() + "/../line") == "{\"tensors\": [\n");
  CHECK(readFile(place.path() + "/../log") == "<stdout>: error: cannot write: Broken pipe\n");
  CHECK(place.files() == before);
}

TEST_CASE("a limit on the size of files makes a run fail") {
  const Files before = WaitingRun::kBefore;
  const Place place(before);
  for (const rlim_t most : {0, 100, 1000}) {
    Process process({.arguments = runWith({"-o", "out.json", "--stats", "stats.json"}),
                     .folder = place.path(),
                     .sizeOfFiles = most});
    CHECK(exitedWith(process.wait(), 3));
    CHECK(place.files() == before);
  }
}

TEST_CASE("a checkpoint may have more shards than files are usually open") {
  const Place place(checkpoint(100));
  Process process({.arguments = kCast, .folder = place.path(), .openFiles = 64});
  CHECK(exitedWith(process.wait(), 0));
  CHECK(place.log() == "");
  CHECK(golden::readFiles(place.path() + "/out").size() == 101);
}

TEST_CASE("a signal removes the folder that was made for a checkpoint") {
  const Files before = checkpoint(2);
  const Place place(before);
  const std::string pipe = place.path() + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::vector<std::string> arguments = kCast;
  arguments.insert(arguments.end(), {"--audit", "pipe"});
  Process process({.arguments = arguments, .folder = place.path()});
  while (!fs::exists(place.path() + "/out") || !hasTemporary(place.path() + "/out"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  process.send(SIGTERM);
  CHECK(diedOf(process.wait(), SIGTERM));
  CHECK_FALSE(fs::exists(place.path() + "/out"));
}

TEST_CASE("without memory enough a run fails, wherever that shows") {
  if (!kCanLimitMemory) {
    MESSAGE("the sanitizer needs more addresses than there may be: not tested");
    return;
  }
  const Files before = graphWithWeight(1'000'000, 10'000) + Files{{"out.json", "old"}, {"out.safetensors", "old"}};
  const Place place(before);
  const auto run = [&](std::vector<std::string> arguments, rlim_t memory) {
    return Process({.arguments = std::move(arguments), .folder = place.path(), .memory = memory}).wait();
  };
  // What it takes to come to main() at all.
  rlim_t memory = rlim_t{4} << 20;
  while (!exitedWith(run({"--version"}, memory), 0)) {
    REQUIRE(memory < rlim_t{4} << 30);
    memory += rlim_t{1} << 20;
  }
  int failed = 0;
  for (;; memory += memory / 20) {
    CAPTURE(memory);
    const int status = run(runWith({"-o", "out.json"}), memory);
    if (exitedWith(status, 0)) break;
    REQUIRE(memory < rlim_t{4} << 30);
    CAPTURE(place.log());
    CHECK(exitedWith(status, 3));
    CHECK((place.log() == "dtypemut: error: out of memory\n" ||
           place.log() == "g.json: error: cannot read: Cannot allocate memory\n"));
    CHECK(place.files() == before);
    ++failed;
  }
  CHECK(failed > 1);
  CHECK_FALSE(hasTemporary(place.path()));
  place.reset(before);
  CHECK(exitedWith(run({"verify", "/dev/zero"}, rlim_t{300} << 20), 3));
  CHECK(place.log() == "/dev/zero: error: cannot read: Cannot allocate memory\n");
}

TEST_CASE("the result is the same for any number of threads") {
  const Files before = graphWithWeight(3'000'000, 10);
  std::optional<Files> expected;
  for (const char* threads : {"1", "2", "3", "16"}) {
    const Place place(before);
    Process process({.arguments = runWith({"-o", "out.json", "--threads", threads}), .folder = place.path()});
    CHECK(exitedWith(process.wait(), 0));
    const Files files = place.files();
    CHECK(files.size() == before.size() + 2);
    if (!expected) expected = files;
    CHECK(files == *expected);
  }
}
