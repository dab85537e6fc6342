// Hydration (docs/contracts/bot.md#2-states): permissions, filters, balances, open orders, candles
// and trades are read anew before a bot is built, started, restarted, or goes on after a stall.
#include <array>

#include "base/errors.h"
#include "base/log.h"
#include "bots/service/bot_service.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

std::string message_of(BotWork work, const std::optional<Blocked>& blocked) {
    if (work == BotWork::build) {
        return "The bot is built and has read all it needs.";
    }
    return blocked ? "The bot runs and has read everything anew, but it does not trade. " +
                         blocked->reason + " " + blocked->next
                   : "The bot has read everything anew and trades.";
}

std::string_view event_of(BotWork work) {
    switch (work) {
        case BotWork::build:
            return "BOT_INITIALIZED";
        case BotWork::launch:
            return "BOT_STARTED";
        default:
            return "BOT_RESTARTED";
    }
}

// An exchange that could not be asked, as opposed to one that said no.
bool is_timeout(const Error& error) {
    return error == errors::venue_timeout || error == errors::venue_unreachable ||
           error == errors::unavailable || error == errors::timed_out;
}

// The document's exchange_error_or_hydration_failure. Everything else (the kill switch, another
// change at the same time, a market that another strategy has, a server with too much to do) leaves
// the bot as it was.
bool is_fatal(const Error& error) {
    return is_timeout(error) || error == errors::key_rejected ||
           error == errors::permissions_unverified || error == errors::keys_not_loaded ||
           error == errors::unknown_symbol;
}

}  // namespace

void BotService::hydrate(const HydrationPtr& job) {
    const TenantId& tenant_id = job->account.tenant_id;
    if (!board_.begin_hydration(tenant_id)) {
        job->reply(fail(errors::bot_busy, "Another lifecycle call of this bot is under way."));
        return;
    }
    if (job->is_resumption) {
        fetch_all(job);  // A stall says nothing about the keys; they are checked daily.
        return;
    }
    const KeyMoment moment = job->work == BotWork::build ? KeyMoment::initialise : KeyMoment::start;
    parts_.vault.check(
        {internal_principal("bot"), tenant_id},
        {.exchange = job->exchange, .moment = moment},
        [this, job](Result<KeyReport> report) {
            board_.forget_text(job->account.tenant_id, kExchangeText);
            if (report) {
                fetch_all(job);
            } else {
                give_up(job, std::move(report).error());
            }
        });
}

Result<void> BotService::check_markets(const Hydration& job) {
    board_.show_hydration(job.account.tenant_id, HydrationStep::filters);
    const MarketSet market = parts_.feed.facts(job.config.symbols);
    for (const Symbol& symbol : job.config.symbols) {
        if (market.find(symbol) == nullptr) {
            return fail(
                errors::unknown_symbol,
                "The exchange has no market " + std::string(symbol.text()) + ".");
        }
    }
    return {};
}

Result<BotService::Fetched> BotService::fetch_account(const VenueAccount& account) {
    const auto watched = parts_.loop.watched(account);
    if (!watched) {
        return fail(errors::unavailable, "The account is not open yet.");
    }
    Fetched fetched;
    fetched.asked_at = *watched;
    fetched.began_at = parts_.clock.now();
    fetched.began = parts_.clock.monotonic();
    TRY_ASSIGN(fetched.report, parts_.fetch(account, watched->fills_cursor));
    fetched.ended_at = parts_.clock.now();
    return fetched;
}

Json BotService::candles_of(const BotConfig& config) const {
    Json counts = Json::object();
    const auto timeframe = parse_timeframe(config.timeframe);
    const std::array wanted{timeframe.value_or(Timeframe::h1)};
    for (const Symbol& symbol : config.symbols) {
        const MarketSignals signals = parts_.feed.signals(symbol, wanted);
        const TimeframeSignals* found = signals.find(wanted.front());
        counts.set(std::string(symbol.text()), found == nullptr ? 0 : found->candles);
    }
    return counts;
}

void BotService::fetch_all(const HydrationPtr& job) {
    ++job->fetches;
    const bool taken = parts_.run([this, job] {
        if (const auto known = check_markets(*job); !known) {
            give_up(job, known.error());
            return;
        }
        const TenantId& tenant_id = job->account.tenant_id;
        board_.show_hydration(tenant_id, HydrationStep::balances);
        Result<Fetched> fetched = fetch_account(job->account);
        if (!fetched) {
            give_up(job, std::move(fetched).error());
            return;
        }
        board_.show_hydration(tenant_id, HydrationStep::candles);
        job->candles = candles_of(job->config);
        board_.show_hydration(tenant_id, HydrationStep::trades);
        take_over(job, *std::move(fetched));
    });
    if (!taken) {
        give_up(job, fail(errors::overloaded, "Too many bots are being built now.").error());
    }
}

void BotService::take_over(const HydrationPtr& job, Fetched fetched) {
    const auto shared = std::make_shared<const Fetched>(std::move(fetched));
    const auto made = std::make_shared<std::optional<Taken>>();
    // The last turn of a call: its answer is the one that the call's key stands for.
    TurnRequest turn = job->caller.key ? keyed_turn_of(job->caller, job->function)
                                       : turn_of(job->caller, "bot_hydration");
    turn.decide = [this, job, shared, made](Turn& t) -> Result<TurnReply> {
        made->reset();
        TRY_ASSIGN(Taken taken, run_take_over(t, *job, *shared));
        Answer answer = taken.answer;
        answer.keep = taken.is_fresh;
        made->emplace(std::move(taken));
        return answer;
    };
    turn.reply = [this, job, shared, made](Result<Answer> answer) {
        if (!answer) {
            give_up(job, std::move(answer).error());
        } else if (!*made || (*made)->is_fresh) {
            board_.show_report(
                job->account.tenant_id,
                {shared->report, shared->ended_at, parts_.clock.monotonic()});
            end(job, std::move(answer));
        } else if (job->fetches < kFetchAgainMax) {
            fetch_all(job);
        } else {
            give_up(
                job,
                fail(errors::bot_busy, "The account did not stand still long enough.").error());
        }
    };
    parts_.submit(std::move(turn));
}

Result<BotService::Taken> BotService::run_take_over(
    Turn& turn, const Hydration& job, const Fetched& fetched) {
    TRY_ASSIGN(BotRecord record, load(turn));
    if (record.state != job.from || record.config_version != job.config_version ||
        record.is_connected != job.was_connected) {
        return fail(errors::conflict, "The bot was changed while it was being built.");
    }
    if (parts_.latch.is_raised(turn.tenant_id()) && job.work != BotWork::build) {
        return fail(errors::kill_switch_active, "The kill switch is on; no bot starts.");
    }
    TRY_ASSIGN(
        const bool is_fresh, parts_.loop.take_report(turn, fetched.asked_at, fetched.report));
    if (!is_fresh) {
        return Taken{};
    }
    record.exchange = job.exchange;
    record.is_connected = true;
    const bool was_told = std::exchange(record.stall, {}).is_told;
    record.trouble.clear();
    // The end of a stall changes nothing about its markets; one that a switch has given to another
    // strategy meanwhile stays there and keeps no other from trading.
    if (job.work != BotWork::build && !job.is_resumption) {
        TRY(hold_markets(turn, record));
    }
    Json detail = Json::object({
        {"exchange", job.exchange},
        {"config_version", record.config_version},
        {"open_orders", static_cast<std::int64_t>(fetched.report.open_orders.size())},
        {"candles", job.candles},
        {"fetched",
         Json::object(
             {{"began_at", to_text(fetched.began_at)}, {"ended_at", to_text(fetched.ended_at)}})},
    });
    if (job.is_resumption) {
        TRY_ASSIGN(
            const std::string ref,
            note(
                turn,
                record,
                {.event = "BOT_RESUMED",
                 .reason = "everything was read anew",
                 .detail = std::move(detail),
                 .severity = severity_of_end(was_told)}));
        save(turn, record);
        return Taken{true, state_answer(record, ref, Json::object())};
    }
    const BotState after = state_after(job.work, record.state);
    TRY_ASSIGN(
        const std::string ref,
        move_to(
            turn,
            record,
            after,
            {.event = std::string(event_of(job.work)), .detail = std::move(detail)}));
    record.state = after;
    const std::vector<std::string> warnings = warnings_of(record.config);
    TRY_ASSIGN(auto blocked, parts_.loop.why_blocked(turn, job.account));
    if (!blocked) {
        blocked = why_too_small(warnings, record.config);
    }
    return Taken{
        true,
        state_answer(
            record,
            message_of(job.work, blocked),
            Json::object(
                {{"audit_ref", ref},
                 {"blocked", encode(blocked)},
                 {"warnings", json_list(warnings)}}))};
}

void BotService::give_up(const HydrationPtr& job, Error error) {
    // While it waits for the exchange to come back, a failed try is one more failed pulse.
    if (!is_fatal(error) || (job->is_resumption && is_timeout(error))) {
        end(job, std::unexpected(std::move(error)));
        return;
    }
    TypedDecide<bool> decide = [this, error](Turn& turn) -> Result<Outcome<bool>> {
        TRY_ASSIGN(BotRecord record, load(turn));
        record.trouble = std::string(error.code()) + ": " + error.message;
        record.stall = {};
        TRY(move_to(
            turn,
            std::move(record),
            BotState::uninitialized,
            {.event = "BOT_FAILED",
             .reason = error.message,
             .detail = Json::object({{"code", error.code()}}),
             .severity = AuditSeverity::critical}));
        return true;
    };
    parts_.submit(typed_turn<bool>(
        turn_of(job->caller, "bot_hydration"),
        std::move(decide),
        [this, job, error](Result<bool> recorded) {
            end(job, std::unexpected(recorded ? error : recorded.error()));
        }));
}

void BotService::end(const HydrationPtr& job, Result<Answer> answer) {
    board_.end_hydration(
        job->account.tenant_id, answer ? std::optional(parts_.clock.monotonic()) : std::nullopt);
    if (!answer && is_timeout(answer.error())) {
        answer = fail(errors::hydration_failed, answer.error().message);
    }
    job->reply(std::move(answer));
}

}  // namespace interlock
