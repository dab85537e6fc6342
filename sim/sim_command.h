// The command `interlock sim`: runs seeds, reports broken promises with the shortest trace it
// finds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace interlock {

struct SimOptions {
    std::optional<std::uint64_t> seed;  // --seed N
    std::string seeds;                  // --seeds A..B, both included; with neither, seed 1.
    std::uint64_t turns = 300;          // --turns M: commands per seed, 1 to kSimTurnsMax.
    std::string world = "all";          // --world trading|relay|all; a plant chooses its own.
    bool json = false;                  // One object per violation, then one summary.
    std::string plant;                  // --plant NAME: break a promise on purpose.
    bool list_plants = false;           // Names, one per line, and nothing else.
    bool trace = false;                 // Print the steps of every run.
    bool quick = false;                 // --quick: end at the first violation, without its trace.
    bool shows_progress = false;        // Write over a line while a range runs: on a terminal.
    std::string commit;                 // Empty: what was compiled in.
};

inline constexpr std::uint64_t kSimTurnsMax = 1'000'000;
// After this many broken seeds a range is given up.
inline constexpr std::uint64_t kSimViolationsMax = 10;

// 0: every promise held. 1: a violation. 2: the options make no sense.
int run_sim_command(const SimOptions& options);

}  // namespace interlock
