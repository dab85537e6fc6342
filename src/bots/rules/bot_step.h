// The life of a maker bot (docs/contracts/bot.md#2-states): which call is allowed in which state
// and what it leads to. Pure; the service carries out what is decided.
//
//     uninitialized ──initialize_bot──► ready ──start──► running ──stop──► stopped
//            ▲                                              ▲  restart        │ restart
//            └── fatal exchange error, hydration failure ───┴────────────────┘
//
// A data stall is no state: the bot stays running and places nothing until the venue has answered
// two pulses in a row and everything was read anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace interlock {

namespace errors {
// The message names the step that is missing.
inline constexpr ErrorKind wrong_bot_state{
    "wrong_bot_state", 409, false, "Read /status, do the step named here, then call again."};
inline constexpr ErrorKind keys_missing{
    "keys_missing", 409, false, "Provision exchange keys with /update_exchange_keys first."};
}  // namespace errors

enum class BotState { uninitialized, ready, running, stopped };
std::string_view to_word(BotState state);

enum class BotCall { initialize, start, stop, restart };

// What a call makes the service do, in order; `already` when there is nothing to do.
enum class BotWork {
    already,             // Answer with the current state.
    build,               // Hydrate, then ready.
    launch,              // Hydrate fully, then running.
    halt,                // End the pulses; orders stay.
    rebuild_and_launch,  // End the pulses if any, hydrate, running.
};
struct BotFacts {
    BotState state = BotState::uninitialized;
    bool keys_loaded = false;
};
Result<BotWork> decide_call(BotCall call, const BotFacts& facts);
// The state once the work is done.
BotState state_after(BotWork work, BotState now);

// The data-stall cycle.
inline constexpr Duration kStallRetryMin = Duration::of_seconds(1);
inline constexpr Duration kStallRetryMax = Duration::of_seconds(30);
inline constexpr std::int64_t kGoodPulsesNeeded = 2;
// What it began with, as long as the exchange answers.
enum class StallCause { exchange, start, session, pulse };
struct Stall {
    bool is_stalled = false;
    StallCause cause = StallCause::exchange;
    std::int64_t failures = 0;  // In a row.
    std::int64_t good_pulses = 0;
    std::optional<Timestamp> next_try_at = {};
    bool is_told = false;  // People were told that it began, so they are told that it ended.
    friend bool operator==(const Stall&, const Stall&) = default;
};
enum class PulseOutcome { good, timed_out };
struct StallStep {
    Stall stall;
    bool began = false;
    bool hydrate = false;  // Two good pulses: read everything anew, then trade on.
    bool may_place = false;
};
StallStep step_stall(Stall stall, PulseOutcome outcome, Timestamp now);

}  // namespace interlock
