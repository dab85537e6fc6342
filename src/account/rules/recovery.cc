#include "account/rules/recovery.h"

#include <algorithm>
#include <array>

#include "account/rules/stored_time.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kPhases{"normal", "recovering", "escalated"};
// Pauses before cycles 1 to 5; a sixth, granted after a clean fifth, waits as long as the last.
constexpr std::array<std::int64_t, 5> kPausesSeconds{1, 2, 4, 8, 8};

Duration pause_before(std::int64_t cycle) {
    const auto last = static_cast<std::int64_t>(kPausesSeconds.size()) - 1;
    return Duration::of_seconds(kPausesSeconds[static_cast<std::size_t>(std::min(cycle, last))]);
}

void add_reasons(RecoveryState& state, const std::vector<std::string>& reasons) {
    for (const std::string& reason : reasons) {
        auto& known = state.reasons;
        if (known.size() < kRecoveryReasonsMax &&
            std::find(known.begin(), known.end(), reason) == known.end()) {
            known.push_back(reason);
        }
    }
}

RecoveryStep start(const RecoveryCause& cause) {
    RecoveryStep step;
    step.state.phase = RecoveryPhase::recovering;
    step.state.entered_at = cause.at;
    step.state.next_cycle_at = cause.at + pause_before(0);
    step.state.exposure_at_entry = cause.exposure;
    add_reasons(step.state, cause.reasons);
    step.entered = true;
    step.cancel_entries = true;
    return step;
}

// What turns an escalation into a kill; empty when nothing does.
std::string kill_reason_of(const RecoveryState& state) {
    if (state.duplicate_seen) {
        return "recovery_duplicate_order";
    }
    if (state.exposure_grew) {
        return "recovery_exposure_grew";
    }
    if (state.cancels_failed) {
        return "recovery_cancels_failed";
    }
    return {};
}

bool is_out_of_time(const RecoveryState& state, const RecoveryCycle& cycle) {
    if (state.entered_at && cycle.at - *state.entered_at >= kRecoveryTimeMax) {
        return true;
    }
    // A clean cycle at the end has earned its confirmation.
    return state.cycles >= kRecoveryCyclesMax && !cycle.is_clean;
}

}  // namespace

std::string_view to_word(RecoveryPhase phase) {
    return kPhases[static_cast<std::size_t>(phase)];
}

bool is_only_looking(const RecoveryState& state) {
    return state.phase == RecoveryPhase::recovering && state.only_looks;
}

RecoveryStep enter_recovery(RecoveryState state, const RecoveryCause& cause) {
    if (state.phase == RecoveryPhase::normal) {
        return start(cause);
    }
    RecoveryStep step;
    add_reasons(state, cause.reasons);
    state.clean_cycles = 0;
    state.only_looks = false;
    step.cancel_entries = true;
    step.state = std::move(state);
    return step;
}

RecoveryStep step_recovery(RecoveryState state, const RecoveryCycle& cycle) {
    RecoveryStep step;
    if (state.phase == RecoveryPhase::normal) {
        step.state = std::move(state);
        return step;
    }
    const std::string old_kill_reason =
        state.phase == RecoveryPhase::escalated ? kill_reason_of(state) : std::string();
    state.cycles += 1;
    state.clean_cycles = cycle.is_clean ? state.clean_cycles + 1 : 0;
    state.exposure_grew = state.exposure_grew || cycle.exposure > state.exposure_at_entry;
    state.duplicate_seen = state.duplicate_seen || cycle.duplicate_seen;
    // Only the last word counts: cancels that failed once and then went through did no harm.
    state.cancels_failed = cycle.cancels_failed;
    state.only_looks = state.only_looks && !cycle.is_doubted;
    add_reasons(state, cycle.reasons);

    if (state.phase == RecoveryPhase::recovering) {
        if (state.clean_cycles >= kCleanCyclesNeeded) {
            step.resolved = true;
            return step;  // A fresh state: normal.
        }
        if (is_out_of_time(state, cycle)) {
            state.phase = RecoveryPhase::escalated;
            step.escalated = true;
        }
    }
    if (state.phase == RecoveryPhase::escalated) {
        const std::string kill_reason = kill_reason_of(state);
        if (kill_reason != old_kill_reason) {
            step.kill_reason = kill_reason;
        }
        state.next_cycle_at = cycle.at + kEscalatedPace;
    } else {
        state.next_cycle_at = cycle.at + pause_before(state.cycles);
    }
    step.cancel_entries = !cycle.is_clean && !state.only_looks;
    step.state = std::move(state);
    return step;
}

RecoveryStep resume_recovery(RecoveryState state, const RecoveryCause& cause) {
    if (state.phase != RecoveryPhase::escalated) {
        RecoveryStep step;
        step.state = std::move(state);
        return step;
    }
    return start(cause);
}

RecoveryStep begin_at_startup(RecoveryState state, const RecoveryCause& cause) {
    if (state.phase == RecoveryPhase::escalated) {
        RecoveryStep step;
        add_reasons(state, cause.reasons);
        state.next_cycle_at = cause.at + pause_before(0);
        step.state = std::move(state);
        return step;
    }
    RecoveryStep step = start(cause);
    const bool was_doubted = state.phase == RecoveryPhase::recovering && !state.only_looks;
    step.state.only_looks = !was_doubted;
    step.cancel_entries = was_doubted;
    if (state.phase == RecoveryPhase::recovering) {
        // What was seen before the restart still counts; the clock starts again, because the time
        // the process was down proves nothing.
        add_reasons(step.state, state.reasons);
        step.state.exposure_at_entry = std::min(state.exposure_at_entry, cause.exposure);
        step.state.duplicate_seen = state.duplicate_seen;
        step.state.exposure_grew = state.exposure_grew || cause.exposure > state.exposure_at_entry;
    }
    return step;
}

Json encode(const RecoveryState& state) {
    return Json::object({
        {"phase", to_word(state.phase)},
        {"reasons", json_list(state.reasons)},
        {"entered_at", stored_time(state.entered_at)},
        {"next_cycle_at", stored_time(state.next_cycle_at)},
        {"cycles", state.cycles},
        {"clean_cycles", state.clean_cycles},
        {"exposure_at_entry", to_text(state.exposure_at_entry)},
        {"exposure_grew", state.exposure_grew},
        {"duplicate_seen", state.duplicate_seen},
        {"cancels_failed", state.cancels_failed},
        {"only_looks", state.only_looks},
    });
}

Result<RecoveryState> decode_recovery_state(const Json& json) {
    FieldReader in(json);
    RecoveryState state{
        .phase = static_cast<RecoveryPhase>(in.required_word_index("phase", kPhases)),
        .reasons = {},
        .entered_at = read_optional_time(in, "entered_at"),
        .next_cycle_at = read_optional_time(in, "next_cycle_at"),
        .cycles = in.required<std::int64_t>("cycles"),
        .clean_cycles = in.required<std::int64_t>("clean_cycles"),
        .exposure_at_entry = in.required<Decimal>("exposure_at_entry"),
        .exposure_grew = in.required<bool>("exposure_grew"),
        .duplicate_seen = in.required<bool>("duplicate_seen"),
        .cancels_failed = in.required<bool>("cancels_failed"),
        .only_looks = in.optional_or("only_looks", false),  // Not in rows of older servers.
    };
    for (const Json& reason : in.required_array("reasons", kRecoveryReasonsMax)) {
        state.reasons.push_back(reason.is_string() ? reason.as_string() : std::string());
    }
    in.reject_unknown();
    return in.finish(std::move(state));
}

}  // namespace interlock
