// Signals that end the process.
#pragma once

namespace dtypemut::cli {

/// From now on the signals that ask the process to end remove its temporary files before they do end it. Those that the
/// process was started to ignore or to block stay so. To be called before any other thread is started: threads inherit
/// what this one blocks.
void removeOutputsOnSignals();

}  // namespace dtypemut::cli
