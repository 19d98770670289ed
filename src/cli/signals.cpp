#include "signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <thread>

#include "dtypemut/io/output.h"

namespace dtypemut::cli {
namespace {

/// The signals that end a process by default and that someone outside may send.
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};

sigset_t emptySet() {
  sigset_t set;
  sigemptyset(&set);
  return set;
}

bool isIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Ends the process by the first of these signals that comes. It is a thread that does so, and no signal handler, since
/// a handler may neither wait for a commit nor touch the list of temporary files.
void endBySignal(sigset_t signals) {
  int signal = 0;
  if (::sigwait(&signals, &signal) != 0) return;
  abandonOutputs();
  std::signal(signal, SIG_DFL);
  sigset_t received = emptySet();
  sigaddset(&received, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &received, nullptr);
  std::raise(signal);
  // The first process of a container does not die of a signal.
  ::_exit(128 + signal);
}

}  // namespace

void removeOutputsOnSignals() {
  sigset_t blocked = emptySet();
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  sigset_t signals = emptySet();
  for (const int signal : kSignals)
    if (!isIgnored(signal) && sigismember(&blocked, signal) == 0) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread(endBySignal, signals).detach();
  } catch (const std::system_error&) {
    // Better to leave a temporary file behind than not to work, or not to end when asked to.
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

}  // namespace dtypemut::cli
