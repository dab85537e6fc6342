// Safe recovery as a state machine (docs/contracts/agent-loop.md#safe-recovery).
//
//     normal ──drift, uncertain, start-up──► recovering ──two clean cycles──► normal
//                                                │
//                                   five cycles or 60 s, still not clean
//                                                ▼
//                                            escalated ──a human resumes──► recovering
//
// While not normal no entry passes. Escalation may ask for the kill switch: exposure grew, an order
// is doubled, or cancels failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/json.h"
#include "base/time.h"

namespace interlock {

enum class RecoveryPhase { normal, recovering, escalated };
std::string_view to_word(RecoveryPhase phase);

inline constexpr std::int64_t kRecoveryCyclesMax = 5;
inline constexpr std::int64_t kCleanCyclesNeeded = 2;
inline constexpr Duration kRecoveryTimeMax = Duration::of_seconds(60);
// While escalated the venue is still asked, at this pace, so that a human sees the truth.
inline constexpr Duration kEscalatedPace = Duration::of_seconds(30);
inline constexpr std::size_t kRecoveryReasonsMax = 20;

struct RecoveryState {
    RecoveryPhase phase = RecoveryPhase::normal;
    std::vector<std::string> reasons;  // Why it was entered and what was found since; distinct.
    std::optional<Timestamp> entered_at;
    std::optional<Timestamp> next_cycle_at;  // Nothing in normal.
    std::int64_t cycles = 0;                 // Since it was entered.
    std::int64_t clean_cycles = 0;           // In a row.
    Decimal exposure_at_entry;               // worst_case_exposure() of account/rules/facts.h.
    bool exposure_grew = false;
    bool duplicate_seen = false;
    bool cancels_failed = false;
    // Begun by a start of the process, and nothing was found yet that contradicts or doubts our
    // books: orders stay where they are (bot.md#2-states: what a stop left remains at the
    // exchange).
    bool only_looks = false;
    friend bool operator==(const RecoveryState&, const RecoveryState&) = default;
};
// A start is being looked into and nothing speaks against our books so far: who plans waits, so
// that orders keep their places at the venue, and it is nobody's news.
bool is_only_looking(const RecoveryState& state);
Json encode(const RecoveryState& state);
Result<RecoveryState> decode_recovery_state(const Json& json);

struct RecoveryStep {
    RecoveryState state;
    bool entered = false;         // SAFE_RECOVERY_TRIGGERED; entries are off from here on.
    bool cancel_entries = false;  // Open entry orders are to be cancelled.
    bool resolved = false;        // Back to normal.
    bool escalated = false;       // Just now: critical alert.
    std::string kill_reason;      // Not empty: raise the kill switch.
};

struct RecoveryCause {
    Timestamp at;
    std::vector<std::string> reasons;  // Words of drift, or "startup".
    Decimal exposure;
};
// In recovering or escalated it only adds the reasons and starts the count of clean cycles again.
RecoveryStep enter_recovery(RecoveryState state, const RecoveryCause& cause);

// What one reconcile cycle found.
struct RecoveryCycle {
    Timestamp at;
    bool is_clean = false;    // No drift, nothing uncertain, venue reached, nothing left to read.
    bool is_doubted = false;  // Drift, an uncertain order, or books that contradict themselves.
    std::vector<std::string> reasons;
    Decimal exposure;
    bool duplicate_seen = false;
    bool cancels_failed = false;
};
RecoveryStep step_recovery(RecoveryState state, const RecoveryCycle& cycle);

// A human lets an escalated account try again.
RecoveryStep resume_recovery(RecoveryState state, const RecoveryCause& cause);

// After start-up every account recovers first; an escalated one stays escalated. A start looks and
// reports; it cancels only for what was found before it or is found by looking.
RecoveryStep begin_at_startup(RecoveryState state, const RecoveryCause& cause);

}  // namespace interlock
