#include "bots/rules/bot_step.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kStates{"uninitialized", "ready", "running", "stopped"};

Result<BotWork> decide_start(BotState state) {
    switch (state) {
        case BotState::ready:
            return BotWork::launch;
        case BotState::uninitialized:
            return fail(
                errors::wrong_bot_state,
                "The bot is uninitialized; POST /initialize_bot comes before /start.");
        case BotState::running:
            return fail(errors::wrong_bot_state, "The bot is running already.");
        case BotState::stopped:
            break;
    }
    return fail(errors::wrong_bot_state, "The bot was stopped; POST /restart lets it run again.");
}

Result<BotWork> decide_stop(BotState state) {
    switch (state) {
        case BotState::running:
            return BotWork::halt;
        case BotState::uninitialized:
            return fail(
                errors::wrong_bot_state,
                "The bot is uninitialized; POST /initialize_bot and /start come before /stop.");
        case BotState::ready:
            return fail(
                errors::wrong_bot_state, "The bot is ready; POST /start comes before /stop.");
        case BotState::stopped:
            break;
    }
    return fail(errors::wrong_bot_state, "The bot was stopped already.");
}

}  // namespace

std::string_view to_word(BotState state) {
    return kStates[static_cast<std::size_t>(state)];
}

Result<BotWork> decide_call(BotCall call, const BotFacts& facts) {
    switch (call) {
        case BotCall::initialize:
            if (facts.state != BotState::uninitialized) {
                return BotWork::already;
            }
            break;
        case BotCall::start: {
            TRY_ASSIGN(const BotWork work, decide_start(facts.state));
            if (facts.keys_loaded) {
                return work;
            }
            break;
        }
        case BotCall::stop:
            return decide_stop(facts.state);
        case BotCall::restart:
            if (facts.keys_loaded) {
                return BotWork::rebuild_and_launch;
            }
            break;
    }
    if (!facts.keys_loaded) {
        return fail(errors::keys_missing, "No exchange keys are loaded for this tenant.");
    }
    return BotWork::build;
}

BotState state_after(BotWork work, BotState now) {
    switch (work) {
        case BotWork::already:
            return now;
        case BotWork::build:
            return BotState::ready;
        case BotWork::halt:
            return BotState::stopped;
        case BotWork::launch:
        case BotWork::rebuild_and_launch:
            break;
    }
    return BotState::running;
}

StallStep step_stall(Stall stall, PulseOutcome outcome, Timestamp now) {
    StallStep step;
    if (outcome == PulseOutcome::timed_out) {
        step.began = !stall.is_stalled;
        stall.is_stalled = true;
        stall.cause = StallCause::exchange;
        stall.good_pulses = 0;
        // 1, 2, 4, 8, 16, 30, 30 … seconds.
        const std::int64_t doubled = std::min<std::int64_t>(stall.failures, 5);
        const Duration wait{kStallRetryMin.microseconds << doubled};
        stall.next_try_at = now + std::min(wait, kStallRetryMax);
        ++stall.failures;
        step.stall = stall;
        return step;
    }
    stall.failures = 0;
    if (!stall.is_stalled) {
        step.may_place = true;
        step.stall = stall;
        return step;
    }
    ++stall.good_pulses;
    stall.next_try_at = now + kStallRetryMin;
    if (stall.good_pulses >= kGoodPulsesNeeded) {
        const bool is_told = stall.is_told;  // Until it is read anew.
        stall = Stall{};
        stall.is_told = is_told;
        step.hydrate = true;
        step.may_place = true;
    }
    step.stall = stall;
    return step;
}

}  // namespace interlock
