#include "engine/service/outbox_runner.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

// How long the idle outbox waits before it looks at what is unsettled again.
constexpr std::chrono::milliseconds kIdleWait{50};

}  // namespace

EffectOutcome OutboxRunner::refuse(
    const OutboxItem& effect, const ErrorKind& kind, std::string message) {
    return {
        .effect = effect,
        .fate = EffectFate::refused,
        .receipt = {},
        .error_code = std::string(kind.code),
        .error_message = std::move(message)};
}

EffectOutcome OutboxRunner::run_one(const OutboxItem& effect) {
    // Cancels are what the kill switch is for; what could trade needs a permit.
    const bool cancels = adds_no_exposure(effect.kind);
    std::optional<KillLatch::SendPermit> permit;
    if (!cancels) {
        permit.emplace(parts_.latch.try_send(effect.tenant_id));
        if (!*permit || parts_.flag.is_raised()) {
            return refuse(
                effect, errors::effect_refused, "The kill switch is on; the effect was not sent.");
        }
        if (parts_.clock.now() > effect.not_after) {
            return refuse(
                effect, errors::effect_expired, "The effect was too old to be sent safely.");
        }
    }
    Result<EffectReceipt> performed = parts_.sink.perform(effect);
    if (performed) {
        return {
            .effect = effect,
            .fate = EffectFate::done,
            .receipt = std::move(performed->receipt),
            .error_code = {},
            .error_message = {}};
    }
    const Error& error = performed.error();
    return {
        .effect = effect,
        .fate = error == errors::effect_refused || error == errors::no_effect_sink
                    ? EffectFate::refused
                    : EffectFate::unknown,
        .receipt = {},
        .error_code = std::string(error.code()),
        .error_message = error.message};
}

EffectOutcome OutboxRunner::settle(const OutboxItem& effect) {
    auto found = parts_.sink.settle(effect);
    if (!found) {
        return {
            .effect = effect,
            .fate = EffectFate::unknown,
            .receipt = {},
            .error_code = std::string(found.error().code()),
            .error_message = found.error().message};
    }
    if (*found) {
        return {
            .effect = effect,
            .fate = EffectFate::done,
            .receipt = (*found)->receipt,
            .error_code = {},
            .error_message = {}};
    }
    return {
        .effect = effect,
        .fate = EffectFate::never_arrived,
        .receipt = {},
        .error_code = "never_arrived",
        .error_message = "The effect never arrived at the sink and no longer can."};
}

namespace {

// Waiting effects sent between two questions about unsettled ones; the rest after the next.
constexpr std::size_t kSentBetweenMax = 16;

bool is_cancel(const OutboxItem& effect) {
    return effect.kind == kCancelKind || effect.kind == kCancelAllKind;
}

}  // namespace

OutboxThreads::OutboxThreads(
    OutboxRunner& runner, Clock& clock, std::function<void(EffectOutcome)> report)
    : runner_(runner),
      clock_(clock),
      report_(std::move(report)),
      queue_(kQueueMax, 16, kQueueMax),
      next_settle_(clock.monotonic()) {}

OutboxThreads::~OutboxThreads() {
    stop();
}

void OutboxThreads::start() {
    thread_ = std::thread([this] {
        while (run_round(kIdleWait)) {
        }
    });
}

void OutboxThreads::stop() {
    queue_.close();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void OutboxThreads::enqueue(std::vector<OutboxItem> effects) {
    for (OutboxItem& effect : effects) {
        const bool cancels = effect.kind == kCancelAllKind;
        const Duration left = effect.not_after - clock_.now();
        const Duration until{clock_.monotonic().microseconds + left.microseconds};
        Job job{.effect = std::move(effect), .settle = false, .send_until = until};
        bool taken = cancels ? queue_.push_front_lane(std::move(job)) : queue_.push(std::move(job));
        if (!taken && job.effect.delivery == Delivery::repeatable) {
            // A lane is shared by all tenants, so whoever fills it must not cost another its
            // cancels: what may be done twice is done later instead of not at all.
            job.settle = true;
            taken = queue_.push_middle_lane(std::move(job));
        }
        if (!taken) {
            // Committed but not sent: say so, so that the books are right. Nothing is resent.
            report_(
                {.effect = std::move(job.effect),
                 .fate = EffectFate::refused,
                 .receipt = {},
                 .error_code = std::string(errors::overloaded.code),
                 .error_message = "More effects were waiting than the outbox accepts."});
        }
    }
}

void OutboxThreads::enqueue_unsettled(std::vector<OutboxItem> effects) {
    for (OutboxItem& effect : effects) {
        queue_.push_middle_lane({.effect = std::move(effect), .settle = true});
    }
}

EffectOutcome OutboxThreads::send(const Job& job) {
    if (!adds_no_exposure(job.effect.kind) && clock_.monotonic() > job.send_until) {
        return runner_.refuse(
            job.effect, errors::effect_expired, "The effect was too old to be sent safely.");
    }
    return runner_.run_one(job.effect);
}

bool OutboxThreads::run_round(std::chrono::milliseconds wait) {
    if (queue_.is_closed()) {
        return false;
    }
    for (Job& job : queue_.pop(1, wait)) {
        if (job.settle) {
            unsettled_.push_back(std::move(job.effect));
            continue;
        }
        EffectOutcome outcome = send(job);
        if (outcome.fate == EffectFate::unknown) {
            unsettled_.push_back(job.effect);
        }
        report_(std::move(outcome));
    }
    if (!unsettled_.empty() && clock_.monotonic() >= next_settle_) {
        settle_open_ones();
    }
    return !queue_.is_closed();
}

void OutboxThreads::settle_open_ones() {
    // A venue that answers slowly may take long over each: cancels come first, and between two
    // questions what is waiting is sent. Meanwhile no second pass begins.
    next_settle_ = {std::numeric_limits<std::int64_t>::max()};
    std::vector<OutboxItem> open = std::exchange(unsettled_, {});
    std::stable_partition(open.begin(), open.end(), is_cancel);
    for (OutboxItem& effect : open) {
        if (queue_.is_closed()) {
            return;  // The rest stays in the store and is settled at start-up.
        }
        EffectOutcome outcome = effect.delivery == Delivery::repeatable ? runner_.run_one(effect)
                                                                        : runner_.settle(effect);
        if (outcome.fate == EffectFate::unknown) {
            unsettled_.push_back(std::move(effect));
        } else {
            report_(std::move(outcome));
        }
        for (std::size_t sent = 0; sent < kSentBetweenMax && queue_.size() > 0; ++sent) {
            run_round(std::chrono::milliseconds(0));
        }
    }
    next_settle_ = {clock_.monotonic().microseconds + kSettleEvery.microseconds};
}

}  // namespace interlock
