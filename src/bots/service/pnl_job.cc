#include "bots/service/pnl_job.h"

#include <algorithm>
#include <array>
#include <utility>

#include "account/wire/booked_fill.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "loop/service/loop_store.h"

namespace interlock {
namespace {

constexpr std::string_view kPrefix = "pnl/";
constexpr std::string_view kCompleted = "completed";
constexpr std::string_view kStopped = "stopped";
constexpr std::string_view kInterrupted = "interrupted";

std::string row_key(const TenantId& tenant_id) {
    return std::string(kPrefix) + tenant_id.text();
}

std::string event_of(std::string_view outcome) {
    return outcome == kCompleted     ? "PNL_COMPLETED"
           : outcome == kStopped     ? "PNL_STOPPED"
           : outcome == kInterrupted ? "PNL_INTERRUPTED"
                                     : "PNL_FAILED";
}

std::string end_line(const std::string& run_id, std::string_view outcome, Timestamp at) {
    return to_text(Json::object(
        {{"kind", "end"}, {"run_id", run_id}, {"outcome", outcome}, {"at", to_text(at)}}));
}

}  // namespace

std::string_view to_word(PnlState state) {
    constexpr std::array<std::string_view, 3> kWords{"idle", "running", "unknown"};
    return kWords[static_cast<std::size_t>(state)];
}

Json encode(const PnlRow& row) {
    return Json::object({
        {"is_running", row.is_running},
        {"run_id", row.run_id},
        {"lookback_days", row.lookback_days},
        {"started_at", to_text(row.started_at)},
        {"outcome", row.outcome},
        {"last_update", row.last_update ? Json(to_text(*row.last_update)) : Json()},
        {"trades_seq", row.trades.seq},
        {"trades_bytes", row.trades.bytes},
        {"trades_hash", row.trades.hash},
    });
}

Result<PnlRow> decode_pnl_row(const Json& json) {
    FieldReader in(json);
    PnlRow row{
        .is_running = in.required<bool>("is_running"),
        .run_id = in.required<std::string>("run_id"),
        .lookback_days = in.required<std::int64_t>("lookback_days"),
        .started_at = in.required<Timestamp>("started_at"),
        .outcome = in.required<std::string>("outcome"),
        .last_update = in.required_nullable<Timestamp>("last_update")};
    // A row from before trades were kept has none of these: the next run reads the whole ledger.
    row.trades.seq = in.optional_or<std::int64_t>("trades_seq", 0);
    row.trades.bytes = in.optional_or<std::int64_t>("trades_bytes", 0);
    row.trades.hash = in.optional_or<std::string>("trades_hash", {});
    return in.finish(std::move(row));
}

Json encode(const PnlStatus& status) {
    Json json = Json::object({
        {"status", to_word(status.state)},
        {"last_outcome", status.last_outcome.empty() ? Json() : Json(status.last_outcome)},
    });
    if (status.state == PnlState::running) {
        json.set("stopping", status.is_stopping);
        json.set(
            "progress",
            Json::object({
                {"records_read", status.records_read},
                {"records_total", status.records_total},
                {"symbols_done", status.symbols_done},
                {"symbols_total", status.symbols_total},
            }));
    }
    return json;
}

Json pnl_last_update_json(const PnlStatus& status) {
    if (!status.last_update) {
        return Json::object({{"timestamp", nullptr}});
    }
    constexpr __int128 kUnitsPerMicrosecond = 1'000'000'000'000;
    const Decimal seconds =
        Decimal::from_units(status.last_update->microseconds * kUnitsPerMicrosecond);
    return Json::object({{"timestamp", Json::number(to_text(seconds))}});
}

// One run. What is not atomic belongs to whichever thread runs its slice.
struct PnlJobs::Job {
    PnlRunName name;
    VenueAccount account;
    Asset quote;
    std::vector<PnlMarket> markets;  // Ascending.
    std::int64_t head_seq = 0;       // Trades booked after the run began are not in it.

    PnlCursor wanted;  // What the log should hold; nothing of it is trusted before its hash is.
    PnlCursor kept;    // What it holds as far as it was read or written.
    std::string rest;  // Of a line whose end is in the next piece.

    std::int64_t read_seq = 0;
    std::map<Symbol, std::vector<PnlFill>> fills;
    std::size_t fills_held = 0;
    std::int64_t unreadable = 0;
    bool is_sorted = false;
    std::vector<SymbolPnl> results;

    std::atomic<std::int64_t> records_read = 0;
    std::atomic<std::int64_t> symbols_done = 0;
    std::atomic<std::int64_t> symbols_total = 0;
    std::atomic<bool> is_stopping = false;

    // Under the mutex of PnlJobs.
    bool in_slice = false;
    bool is_wanted = false;
};

Result<void> PnlJobs::open() {
    TRY_ASSIGN(const auto stored, parts_.runner.stored_states(std::string(kPrefix)));
    const std::lock_guard lock(mutex_);
    for (const auto& [key, state] : stored) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        TRY_ASSIGN(PnlRow row, decode_pnl_row(json));
        entries_[TenantId::trusted(key.substr(kPrefix.size()))].row = std::move(row);
    }
    return {};
}

void PnlJobs::settle() {
    std::vector<std::pair<TenantId, std::string>> unknown;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [tenant_id, entry] : entries_) {
            if (entry.is_unknown() && !std::exchange(entry.is_settling, true)) {
                unknown.emplace_back(tenant_id, entry.row.run_id);
            }
        }
    }
    for (const auto& [tenant, run] : unknown) {
        const bool queued = parts_.run([this, tenant_id = tenant, run_id = run] {
            // The record is what counts; a log that cannot be written does not keep it open.
            (void)parts_.log.append(tenant_id, end_line(run_id, kInterrupted, parts_.clock.now()));
            submit_end(tenant_id, run_id, {.outcome = std::string(kInterrupted)});
        });
        if (!queued) {
            on_unrecorded(tenant, run);
        }
    }
}

// The committed run, that is: one staged by an earlier turn of the same batch has another id.
bool PnlJobs::is_unknown(const TenantId& tenant_id, const std::string& run_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    return found != entries_.end() && found->second.is_unknown() &&
           found->second.row.run_id == run_id;
}

std::size_t PnlJobs::jobs_running() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second.job; }));
}

Result<PnlJobs::JobPtr> PnlJobs::job_of(Turn& turn, const Order& order) {
    TRY_ASSIGN(const AccountView view, load_account(turn, order.account));
    if (!view.account) {
        return fail(errors::not_found, "There is no such account to reckon.");
    }
    auto job = std::make_shared<Job>();
    job->name = {turn.new_id("pnl"), {.to = turn.now(), .lookback_days = order.lookback_days}};
    job->account = order.account;
    job->quote = view.account->quote;
    job->head_seq = turn.head_of(turn.tenant_id()).seq;
    for (const SymbolBook& book : view.books->books) {
        job->markets.push_back(
            {.symbol = book.symbol, .base = book.base, .quote = book.quote, .mid = std::nullopt});
    }
    return job;
}

Result<PnlJobs::Answered> PnlJobs::start(Turn& turn, const Order& order) {
    CHECK(order.account.tenant_id == turn.tenant_id());
    if (order.lookback_days < kLookbackDaysMin || order.lookback_days > kLookbackDaysMax) {
        auto refusal = fail(errors::invalid_request, "The window is out of range.");
        refusal.error().problems.push_back({"lookback_days", "must be from 1 to 365"});
        return refusal;
    }
    TRY_ASSIGN(PnlRow row, turn.load_or(row_key(turn.tenant_id()), decode_pnl_row, PnlRow{}));
    if (row.is_running && !is_unknown(turn.tenant_id(), row.run_id)) {
        return Answered{"A PnL calculation is already running.", true};
    }
    if (jobs_running() >= bounds_.jobs_max) {
        auto refusal = fail(errors::overloaded, "Too many PnL calculations are running.");
        refusal.error().retry_after_seconds = 5;
        return refusal;
    }
    TRY(turn.charge_agent());
    TRY_ASSIGN(const JobPtr job, job_of(turn, order));
    job->wanted = row.trades;
    if (row.trades.bytes == 0) {
        job->read_seq = row.trades.seq;  // So far there was not one trade.
        job->kept.seq = row.trades.seq;
    }
    row.is_running = true;
    row.run_id = job->name.run_id;
    row.lookback_days = order.lookback_days;
    row.started_at = turn.now();
    turn.save(row_key(turn.tenant_id()), encode(row));
    AuditDraft draft = turn.draft("PNL_STARTED");
    draft.detail = Json::object({
        {"run_id", row.run_id},
        {"account", encode(order.account)},
        {"lookback_days", order.lookback_days},
    });
    TRY(turn.audit(std::move(draft)));
    turn.after_commit([this, job, row] { launch(job, row); });
    return Answered{"The PnL calculation has started.", true};
}

Result<PnlJobs::Answered> PnlJobs::stop(Turn& turn) {
    TRY_ASSIGN(const PnlRow row, turn.load_or(row_key(turn.tenant_id()), decode_pnl_row, PnlRow{}));
    if (!row.is_running || is_unknown(turn.tenant_id(), row.run_id)) {
        return Answered{"No PnL calculation is running.", false};
    }
    AuditDraft draft = turn.draft("PNL_STOP_REQUESTED");
    draft.detail.set("run_id", row.run_id);
    TRY(turn.audit(std::move(draft)));
    turn.after_commit([this, tenant_id = turn.tenant_id(), run_id = row.run_id] {
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(tenant_id);
        if (found != entries_.end() && found->second.job &&
            found->second.job->name.run_id == run_id) {
            found->second.job->is_stopping = true;
        }
    });
    return Answered{"The PnL calculation stops after the current symbol.", true};
}

PnlStatus PnlJobs::status(const TenantId& tenant_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    if (found == entries_.end()) {
        return {};
    }
    const Entry& entry = found->second;
    PnlStatus status;
    status.last_outcome = entry.row.outcome;
    status.last_update = entry.row.last_update;
    if (entry.job) {
        status.state = PnlState::running;
        status.is_stopping = entry.job->is_stopping;
        status.records_read = entry.job->records_read;
        status.records_total = entry.job->head_seq;
        status.symbols_done = entry.job->symbols_done;
        status.symbols_total = entry.job->symbols_total;
    } else if (entry.is_unknown()) {
        status.state = PnlState::unknown;
    }
    return status;
}

void PnlJobs::launch(const JobPtr& job, PnlRow row) {
    {
        const std::lock_guard lock(mutex_);
        Entry& entry = entries_[job->account.tenant_id];
        entry.row = std::move(row);
        entry.job = job;
        entry.is_settling = false;
    }
    if (!parts_.run([this, job] { pump(job); })) {
        record_end(job, std::string(errors::overloaded.code));
    }
}

// Runs one slice and queues the next, so that others get their turn on the pool in between. Without
// room in the queue it goes on here. A pool without threads runs the next slice inside run(): that
// one only says so and leaves, or slices would nest.
void PnlJobs::pump(const JobPtr& job) {
    {
        const std::lock_guard lock(mutex_);
        if (job->in_slice) {
            job->is_wanted = true;
            return;
        }
        job->in_slice = true;
    }
    while (step(job)) {
        const bool is_queued = parts_.run([this, job] { pump(job); });
        const std::lock_guard lock(mutex_);
        if (is_queued && !std::exchange(job->is_wanted, false)) {
            job->in_slice = false;
            return;
        }
    }
}

// One slice; false when it was the last.
bool PnlJobs::step(const JobPtr& job) {
    if (is_closing_) {
        return false;
    }
    if (job->is_stopping) {
        finish(job, std::string(kStopped));
        return false;
    }
    Result<void> done;
    bool is_last = false;
    if (job->kept.bytes < job->wanted.bytes) {
        done = read_kept(*job);
    } else if (job->read_seq < job->head_seq) {
        done = read_page(*job);
    } else if (!job->is_sorted) {
        sort_markets(*job);
    } else if (job->results.size() < job->markets.size()) {
        done = reckon_market(*job);
    } else {
        done = write_total(*job);
        is_last = true;
    }
    if (!done || is_last) {
        finish(job, done ? std::string(kCompleted) : std::string(done.error().code()));
        return false;
    }
    return true;
}

Result<void> PnlJobs::read_kept(Job& job) {
    const auto left = static_cast<std::size_t>(job.wanted.bytes - job.kept.bytes);
    const auto piece = parts_.log.read_trades(
        job.account.tenant_id,
        static_cast<std::size_t>(job.kept.bytes),
        std::min(left, bounds_.kept_bytes));
    if (piece) {
        job.rest += *piece;
        job.kept.bytes += std::ssize(*piece);
    }
    std::size_t from = 0;
    for (std::size_t end = 0; (end = job.rest.find('\n', from)) != std::string::npos;) {
        const std::string line = job.rest.substr(from, end - from);
        job.kept.hash = sha256_hex_of(job.kept.hash, line);
        TRY(take_trade(job, line));
        from = end + 1;
    }
    job.rest.erase(0, from);
    const bool is_end = job.kept.bytes == job.wanted.bytes;
    const bool is_other = is_end && (!job.rest.empty() || job.kept.hash != job.wanted.hash);
    if (!piece || piece->empty() || is_other) {
        // Cut off or changed: the ledger has them all.
        job.fills.clear();
        job.fills_held = 0;
        job.unreadable = 0;
        job.rest.clear();
        job.wanted = {};
        job.kept = {};
    } else if (is_end) {
        job.kept.seq = job.wanted.seq;
        job.read_seq = job.wanted.seq;
        job.records_read = job.read_seq;
    }
    return {};
}

Result<void> PnlJobs::read_page(Job& job) {
    TRY_ASSIGN(
        const std::vector<LedgerEntry> page,
        parts_.store.read_ledger(job.account.tenant_id, job.read_seq, bounds_.page_records));
    if (page.empty()) {
        return fail(errors::corrupt_data, "The ledger ends before its head.");
    }
    std::string lines;
    for (const LedgerEntry& entry : page) {
        if (entry.seq > job.head_seq) {
            break;
        }
        TRY_ASSIGN(const std::optional<std::string> line, trade_line(entry));
        if (line) {
            TRY(take_trade(job, *line));
            job.kept.hash = sha256_hex_of(job.kept.hash, *line);
            lines += *line + "\n";
        }
    }
    if (!lines.empty()) {
        TRY(parts_.log.write_trades(
            job.account.tenant_id, static_cast<std::size_t>(job.kept.bytes), lines));
        job.kept.bytes += std::ssize(lines);
    }
    job.read_seq = std::min(page.back().seq, job.head_seq);
    job.kept.seq = job.read_seq;
    job.records_read = job.read_seq;
    return {};
}

Result<std::optional<std::string>> PnlJobs::trade_line(const LedgerEntry& entry) {
    // Most records are something else; the text tells without a parse.
    if (entry.canonical_json.find(kFillBookedEvent) == std::string::npos) {
        return std::nullopt;
    }
    TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
    TRY_ASSIGN(const AuditRecord record, decode_audit_record(json));
    if (record.draft.event != kFillBookedEvent) {
        return std::nullopt;
    }
    return to_text(record.draft.detail);
}

Result<void> PnlJobs::take_trade(Job& job, const std::string& line) const {
    const auto json = parse_json(line);
    const auto booked = json ? decode_booked_fill(*json) : std::unexpected(json.error());
    if (!booked) {
        ++job.unreadable;
        return {};
    }
    if (booked->account != job.account) {
        return {};
    }
    if (++job.fills_held > bounds_.fills_max) {
        return fail(errors::overloaded, "The account has more trades than one job holds.");
    }
    job.fills[booked->fill.symbol].push_back(pnl_fill_of(*booked));
    return {};
}

// Only markets with trades are reported; a trade of a market without a book cannot be reckoned.
void PnlJobs::sort_markets(Job& job) const {
    std::size_t known = 0;
    std::erase_if(job.markets, [&](const PnlMarket& market) {
        const auto found = job.fills.find(market.symbol);
        known += found == job.fills.end() ? 0 : found->second.size();
        return found == job.fills.end();
    });
    job.unreadable += static_cast<std::int64_t>(job.fills_held - known);
    job.symbols_total = static_cast<std::int64_t>(job.markets.size());
    job.is_sorted = true;
}

Result<void> PnlJobs::reckon_market(Job& job) {
    PnlMarket market = job.markets[job.results.size()];
    const MarketSet facts = parts_.feed.facts({&market.symbol, 1});
    if (const MarketFacts* now = facts.find(market.symbol)) {
        market.mid = mid_of(*now);
    }
    auto fills = job.fills.extract(market.symbol);
    TRY_ASSIGN(SymbolPnl result, symbol_pnl(market, job.name.window, std::move(fills.mapped())));
    TRY(parts_.log.append(job.account.tenant_id, pnl_line(job.name, result)));
    job.results.push_back(std::move(result));
    ++job.symbols_done;
    return {};
}

Result<void> PnlJobs::write_total(Job& job) {
    TRY_ASSIGN(TotalPnl total, total_pnl(job.quote, job.results));
    total.figures.unusable_fills += job.unreadable;
    return parts_.log.append(job.account.tenant_id, pnl_line(job.name, total));
}

void PnlJobs::finish(const JobPtr& job, std::string outcome) {
    if (outcome != kCompleted) {
        // The total is a completed run's own last line.
        (void)parts_.log.append(
            job->account.tenant_id, end_line(job->name.run_id, outcome, parts_.clock.now()));
    }
    record_end(job, std::move(outcome));
}

void PnlJobs::record_end(const JobPtr& job, std::string outcome) {
    submit_end(
        job->account.tenant_id,
        job->name.run_id,
        {.outcome = std::move(outcome), .trades = job->kept});
}

void PnlJobs::submit_end(const TenantId& tenant_id, const std::string& run_id, End end) {
    TurnRequest request;
    request.tenant_id = tenant_id;
    request.principal = internal_principal("pnl");
    request.function = "pnl_end";
    request.decide = [this, run_id, end = std::move(end)](Turn& turn) -> Result<TurnReply> {
        const std::string& outcome = end.outcome;
        const std::string key = row_key(turn.tenant_id());
        TRY_ASSIGN(PnlRow row, turn.load_or(key, decode_pnl_row, PnlRow{}));
        if (!row.is_running || row.run_id != run_id) {
            return Answer{};  // Another run has begun since; this one is history.
        }
        row.is_running = false;
        row.outcome = outcome;
        if (outcome == kCompleted) {
            row.last_update = turn.now();
            row.trades = end.trades;
        }
        turn.save(key, encode(row));
        AuditDraft draft = turn.draft(event_of(outcome));
        draft.status = outcome == kCompleted ? AuditStatus::passed : AuditStatus::failed;
        draft.reason = outcome;
        draft.detail.set("run_id", run_id);
        TRY(turn.audit(std::move(draft)));
        turn.after_commit(
            [this, tenant_id = turn.tenant_id(), row] { on_recorded(tenant_id, row); });
        return Answer{};
    };
    request.reply = [this, tenant_id, run_id](const Result<Answer>& answer) {
        if (!answer) {
            on_unrecorded(tenant_id, run_id);
        }
    };
    parts_.submit(std::move(request));
}

void PnlJobs::on_recorded(const TenantId& tenant_id, PnlRow row) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[tenant_id];
    entry.row = std::move(row);
    entry.job = nullptr;
    entry.is_settling = false;
}

// The end of a run could not be committed: unknown, until settle() tries again.
void PnlJobs::on_unrecorded(const TenantId& tenant_id, const std::string& run_id) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[tenant_id];
    if (entry.row.run_id == run_id) {
        entry.job = nullptr;
        entry.is_settling = false;
    }
}

}  // namespace interlock
