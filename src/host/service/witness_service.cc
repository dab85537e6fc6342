#include "host/service/witness_service.h"

#include <algorithm>
#include <chrono>
#include <ranges>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

// When nobody rings: a line that the head log got without our being told.
constexpr Duration kIdlePeriod = Duration::of_minutes(1);
// While the record of a disagreement is being written.
constexpr Duration kDisputePeriod = Duration::of_seconds(1);

std::string label_of(const std::string& text) {
    std::string label;
    for (const char c : text) {
        if (c == '\\' || c == '"') {
            label += '\\';
        }
        label += c == '\n' ? ' ' : c;
    }
    return label;
}

TurnRequest late_turn(const std::string& name, const std::string& problem) {
    TurnRequest request;
    request.tenant_id = system_tenant();
    request.principal = internal_principal("witness");
    request.function = "witness";
    request.decide = [name, problem](Turn& turn) -> Result<TurnReply> {
        const bool is_back = problem.empty();
        AuditDraft draft = turn.draft(is_back ? "WITNESS_REACHED" : "WITNESS_UNREACHABLE");
        draft.status = is_back ? AuditStatus::passed : AuditStatus::failed;
        draft.severity = is_back ? AuditSeverity::info : AuditSeverity::critical;
        draft.reason = is_back ? name + " takes seals again"
                               : name + " has not taken a seal for ten minutes: " + problem;
        draft.detail.set("witness", name);
        TRY(turn.audit(std::move(draft)));
        return Answer{};
    };
    request.reply = [](const Result<Answer>&) {};
    return request;
}

}  // namespace

Json encode(const WitnessState& state) {
    const auto time_or_null = [](const std::optional<Timestamp>& at) {
        return at ? Json(to_text(*at)) : Json();
    };
    return Json::object({
        {"name", state.name},
        {"newest_seq", state.newest.seq},
        {"newest_hash", state.newest.seq > 0 ? Json(state.newest.hash) : Json()},
        {"pushed_at", time_or_null(state.pushed_at)},
        {"pushed", state.pushed},
        {"pending", state.pending},
        {"failures", state.failures},
        {"problem", state.problem},
        {"failing_since", time_or_null(state.failing_since)},
        {"disagreement", state.disagreement},
    });
}

Result<std::optional<ChainFault>> disagreement_of(LedgerStore& store, const WitnessedHead& head) {
    const std::int64_t seq = head.head.seq;
    TRY_ASSIGN(const auto entries, store.read_ledger(system_tenant(), seq - 1, 1));
    if (!entries.empty() && entries.front().seq == seq && entries.front().hash == head.head.hash) {
        return std::nullopt;
    }
    TRY_ASSIGN(const LedgerHead ours, store.read_head(system_tenant()));
    const std::string got =
        "the witness got seal " + short_text(head.head) + " of " + to_text(head.at) + ", but ";
    if (seq > ours.seq) {
        return ChainFault{
            ours.seq + 1,
            "rolled_back",
            got + "the chain of _system ends at " + std::to_string(ours.seq)};
    }
    return ChainFault{
        seq,
        "other_history",
        got + "another record stands there: the folder was put back and went on, or was rewritten"};
}

WitnessPusher::WitnessPusher(Parts parts) : parts_(std::move(parts)) {
    state_.name = parts_.witness->name();
}

WitnessState WitnessPusher::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

bool WitnessPusher::has_all() const {
    const std::lock_guard lock(mutex_);
    return stage_ == Stage::met && state_.pending == 0;
}

std::optional<ChainFault> WitnessPusher::dispute() const {
    const std::lock_guard lock(mutex_);
    return dispute_;
}

// Lines of ours come behind the one that is not: the witness keeps the evidence.
void WitnessPusher::settle_dispute() {
    const std::lock_guard lock(mutex_);
    dispute_.reset();
    stage_ = Stage::met;
}

Duration WitnessPusher::round() {
    if (const auto given = give(); !given) {
        return note_failure(given.error());
    }
    note_success();
    const std::lock_guard lock(mutex_);
    if (stage_ != Stage::met) {
        return kDisputePeriod;
    }
    return state_.pending > 0 ? Duration{} : kIdlePeriod;
}

Result<void> WitnessPusher::give() {
    TRY(meet());
    {
        const std::lock_guard lock(mutex_);
        if (stage_ != Stage::met) {
            return {};
        }
    }
    TRY_ASSIGN(const std::vector<WitnessedHead> lines, due_lines());
    {
        const std::lock_guard lock(mutex_);
        state_.pending = static_cast<std::int64_t>(lines.size());
    }
    for (const WitnessedHead& line : lines | std::views::take(kWitnessBatchMax)) {
        TRY(parts_.witness->push(line));
        const std::lock_guard lock(mutex_);
        state_.newest = line.head;
        state_.pushed_at = parts_.clock.now();
        ++state_.pushed;
        --state_.pending;
    }
    return {};
}

// Once in each life: what it has must be in our chain, and says where to go on.
Result<void> WitnessPusher::meet() {
    {
        const std::lock_guard lock(mutex_);
        if (stage_ != Stage::unmet) {
            return {};
        }
    }
    TRY_ASSIGN(const auto newest, parts_.witness->newest());
    std::optional<ChainFault> fault;
    if (newest) {
        TRY_ASSIGN(fault, disagreement_of(parts_.store, *newest));
    }
    {
        const std::lock_guard lock(mutex_);
        stage_ = fault ? Stage::disputed : Stage::met;
        dispute_ = fault;
        if (newest && !fault) {
            state_.newest = newest->head;
        }
        state_.disagreement = fault ? fault->detail : "";
    }
    if (fault) {
        log_error(
            "witness_disagrees",
            {{"witness", state_.name}, {"reason", fault->reason}, {"detail", fault->detail}});
    }
    return {};
}

// Behind the newest that it has. A new witness begins with the last: that vouches for all before.
Result<std::vector<WitnessedHead>> WitnessPusher::due_lines() {
    TRY_ASSIGN(const std::vector<std::string> lines, parts_.head_log.read());
    const std::int64_t newest = state().newest.seq;
    std::vector<WitnessedHead> due;
    for (const std::string& line : lines | std::views::reverse) {
        auto head = read_head_line(line);
        if (!head || head->head.seq <= newest || (newest == 0 && !due.empty())) {
            break;
        }
        due.push_back(*std::move(head));
    }
    std::ranges::reverse(due);
    return due;
}

Duration WitnessPusher::note_failure(const Error& error) {
    const Duration now = parts_.clock.monotonic();
    bool is_newly_late = false;
    {
        const std::lock_guard lock(mutex_);
        if (failures_in_row_++ == 0) {
            failing_since_ = now;
            state_.failing_since = parts_.clock.now();
            log_warn("witness_failed", {{"witness", state_.name}, {"message", error.message}});
        }
        ++state_.failures;
        state_.problem = error.message;
        is_newly_late = !is_late_ && now.microseconds - failing_since_.microseconds >=
                                         kWitnessLateAfter.microseconds;
        is_late_ = is_late_ || is_newly_late;
    }
    if (is_newly_late) {
        log_error("witness_late", {{"witness", state_.name}, {"message", error.message}});
        parts_.on_late(state_.name, error.message);
    }
    std::int64_t wait = kWitnessRetryFirst.microseconds;
    for (std::int64_t i = 1; i < failures_in_row_ && wait < kWitnessRetryMax.microseconds; ++i) {
        wait *= 2;
    }
    return {std::min(wait, kWitnessRetryMax.microseconds)};
}

void WitnessPusher::note_success() {
    bool was_late = false;
    {
        const std::lock_guard lock(mutex_);
        failures_in_row_ = 0;
        state_.problem.clear();
        state_.failing_since.reset();
        was_late = std::exchange(is_late_, false);
    }
    if (was_late) {
        log_info("witness_reached", {{"witness", state_.name}});
        parts_.on_late(state_.name, "");
    }
}

WitnessService::WitnessService(Parts parts, std::vector<std::unique_ptr<Witness>> witnesses)
    : parts_(std::move(parts)) {
    for (std::unique_ptr<Witness>& witness : witnesses) {
        pushers_.push_back(std::make_unique<WitnessPusher>(WitnessPusher::Parts{
            .witness = std::move(witness),
            .head_log = parts_.head_log,
            .store = parts_.store,
            .clock = parts_.clock,
            .on_late = [this](const std::string& name, const std::string& problem) {
                parts_.submit(late_turn(name, problem));
            }}));
    }
}

WitnessService::~WitnessService() {
    stop();
}

void WitnessService::start() {
    answered_.assign(pushers_.size(), -1);
    for (std::size_t i = 0; i < pushers_.size(); ++i) {
        threads_.emplace_back([this, i] { run(i); });
    }
}

void WitnessService::ring() {
    {
        const std::lock_guard lock(mutex_);
        ++rings_;
    }
    changed_.notify_all();
}

void WitnessService::duty() {
    if (!has_dispute_.exchange(false)) {
        return;
    }
    for (const auto& pusher : pushers_) {
        auto fault = pusher->dispute();
        if (!fault) {
            continue;
        }
        fault->detail = pusher->state().name + ": " + fault->detail;
        if (parts_.note_disagreement(*fault)) {
            pusher->settle_dispute();
        } else {
            has_dispute_.store(true);
        }
    }
    ring();
}

void WitnessService::run(std::size_t index) {
    WitnessPusher& pusher = *pushers_[index];
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        const std::int64_t seen = rings_;
        lock.unlock();
        const Duration wait = pusher.round();
        if (pusher.dispute()) {
            has_dispute_.store(true);
        }
        const bool is_failing = !pusher.state().problem.empty();
        lock.lock();
        answered_[index] = seen;
        changed_.notify_all();  // stop() waits for the last line.
        // A ring says that there is more to give, which does not help one that fails.
        changed_.wait_for(lock, std::chrono::microseconds(wait.microseconds), [&] {
            return is_stopping_ || (!is_failing && rings_ != seen);
        });
    }
}

void WitnessService::stop() {
    if (threads_.empty()) {
        return;
    }
    ring();
    {
        std::unique_lock lock(mutex_);
        const std::chrono::microseconds grace(kWitnessStopGrace.microseconds);
        changed_.wait_for(lock, grace, [this] {
            for (std::size_t i = 0; i < pushers_.size(); ++i) {
                const bool is_done = answered_[i] == rings_ && pushers_[i]->has_all();
                if (!is_done && pushers_[i]->state().problem.empty()) {
                    return false;
                }
            }
            return true;
        });
        is_stopping_ = true;
    }
    changed_.notify_all();
    for (const auto& pusher : pushers_) {
        pusher->witness().cancel();
    }
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

std::vector<WitnessState> WitnessService::states() const {
    std::vector<WitnessState> states;
    for (const auto& pusher : pushers_) {
        states.push_back(pusher->state());
    }
    return states;
}

std::string WitnessService::metrics_text() const {
    const std::vector<WitnessState> all = states();
    if (all.empty()) {
        return {};
    }
    std::string text;
    const auto family = [&](const std::string& name, const std::string& help, auto value) {
        const bool is_count = name.ends_with("_total");
        text += "# HELP " + name + " " + help + "\n# TYPE " + name +
                (is_count ? " counter\n" : " gauge\n");
        for (const WitnessState& state : all) {
            text += name + "{witness=\"" + label_of(state.name) + "\"} " +
                    std::to_string(value(state)) + "\n";
        }
    };
    family("interlock_witness_pending", "Seals that a witness has not got yet.", [](const auto& s) {
        return s.pending;
    });
    family("interlock_witness_failures_total", "Tries that a witness did not take.", [](auto& s) {
        return s.failures;
    });
    family("interlock_witness_newest_seq", "The newest seal that a witness has.", [](auto& s) {
        return s.newest.seq;
    });
    family(
        "interlock_witness_disagrees",
        "1 when a witness has a seal that the ledger has not.",
        [](auto& s) { return s.disagreement.empty() ? 0 : 1; });
    return text;
}

}  // namespace interlock
