// The pulse (docs/contracts/bot.md#3-pulses): every ten seconds the account is fetched afresh, what
// it brings is reconciled, and the bot's strategies look at it, all in one turn. When they want
// something they act in turns of their own, which come next and are void when they come late.
//
// A venue that does not answer stalls the bot: nothing is placed until two pulses in a row were
// answered and everything has been read anew.
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "bots/service/bot_service.h"

namespace interlock {

std::vector<TurnRequest> BotService::pulse() {
    const Duration now = parts_.clock.monotonic();
    std::vector<TurnRequest> turns;
    for (BotBoard::Due& due : board_.take_due(now, kPulsesPerRoundMax)) {
        const auto verdict = weight_.take_pulse(due.tenant_id, due.symbols, now);
        if (!verdict.allowed) {
            board_.put_back(due, later(now, verdict.wait));
            continue;
        }
        Result<Fetched> fetched = fetch_account(bot_account_of(due.tenant_id));
        turns.push_back(pulse_turn(std::move(due), std::move(fetched)));
    }
    return turns;
}

void BotService::charge(const OutboxItem& effect) {
    if (effect.kind == kOrderEffect) {
        weight_.charge_order(effect.tenant_id, parts_.clock.monotonic());
    } else if (effect.kind == kCancelKind || effect.kind == kCancelAllKind) {
        weight_.charge_cancel(parts_.clock.monotonic());
    }
}

TurnRequest BotService::pulse_turn(BotBoard::Due due, Result<Fetched> fetched) {
    const auto shared = std::make_shared<const Result<Fetched>>(std::move(fetched));
    TypedDecide<BotBoard::Done> decide =
        [this, due, shared](Turn& turn) -> Result<Outcome<BotBoard::Done>> {
        TRY_ASSIGN(BotBoard::Done done, run_pulse(turn, due, *shared));
        return done;
    };
    TypedReply<BotBoard::Done> finish = [this, due, shared](Result<BotBoard::Done> done) {
        const Duration now = parts_.clock.monotonic();
        const BotBoard::Moment moment{parts_.clock.now(), now};
        if (!done) {
            log_error(
                "bot_pulse_failed",
                {{"tenant_id", due.tenant_id.text()}, {"message", done.error().message}});
            board_.finish(
                due, moment, {.next_at = later(now, kPulseAgain), .needs_hydration = true});
            return;
        }
        if (*shared && done->is_fresh) {
            board_.show_report(due.tenant_id, {(*shared)->report, (*shared)->ended_at, now});
        }
        board_.finish(due, moment, *done);
    };
    return typed_turn<BotBoard::Done>(
        rule_turn(due.tenant_id, "bot_pulse"), std::move(decide), std::move(finish));
}

Result<BotBoard::Done> BotService::run_pulse(
    Turn& turn, const BotBoard::Due& due, const Result<Fetched>& fetched) {
    TRY_ASSIGN(BotRecord record, load(turn));
    // The next one is a period after this one was due, not after it was done.
    const Duration now = parts_.clock.monotonic();
    const Duration next = std::max(later(due.due_at, kPulseEvery), now);
    if (record.state != BotState::running || !record.is_connected) {
        return BotBoard::Done{.next_at = next};
    }
    Stall stall = record.stall;
    if (!stall.is_stalled && due.needs_hydration) {
        stall = {.is_stalled = true, .cause = due.is_new ? StallCause::start : StallCause::pulse};
    }
    const StallStep step =
        step_stall(stall, fetched ? PulseOutcome::good : PulseOutcome::timed_out, turn.now());
    if (!fetched || stall.is_stalled) {
        return run_stalled(turn, std::move(record), step, fetched ? "" : fetched.error().message);
    }
    TRY_ASSIGN(
        const bool is_fresh, parts_.loop.take_report(turn, fetched->asked_at, fetched->report));
    if (!is_fresh) {
        return BotBoard::Done{.next_at = later(now, kPulseAgain)};
    }
    TRY_ASSIGN(BotBoard::Done done, look(turn, record, *fetched, due.due_at));
    done.next_at = done.pulsed ? next : later(now, kPulseAgain);
    done.is_fresh = true;
    return done;
}

Result<BotBoard::Done> BotService::run_stalled(
    Turn& turn, BotRecord record, const StallStep& step, const std::string& why) {
    const Duration now = parts_.clock.monotonic();
    if (step.hydrate) {
        turn.after_commit([this, tenant_id = turn.tenant_id()] { resume(tenant_id); });
        // Should that fail, the exchange is asked again like after any other failure.
        return BotBoard::Done{.next_at = later(now, kPulseEvery), .needs_hydration = true};
    }
    const Stall before = std::exchange(record.stall, step.stall);
    // After a start, too, the exchange may turn out to be away.
    const bool is_news = !why.empty() && !before.is_told;
    record.stall.is_told = before.is_told || is_news;
    if (!before.is_stalled || is_news) {
        TRY(note(
            turn,
            record,
            {.event = "BOT_STALLED",
             .reason = !why.empty()                              ? why
                       : record.stall.cause == StallCause::start ? "the server was started"
                                                                 : "a pulse failed",
             .severity = is_news ? AuditSeverity::critical : AuditSeverity::info}));
    }
    const Duration wait =
        step.stall.next_try_at ? *step.stall.next_try_at - turn.now() : kPulseAgain;
    save(turn, std::move(record));
    return BotBoard::Done{.next_at = later(now, wait), .needs_hydration = true};
}

void BotService::resume(const TenantId& tenant_id) {
    const auto seen = board_.view(tenant_id);
    if (!seen || seen->record.state != BotState::running || !seen->record.is_connected) {
        return;
    }
    auto job = std::make_shared<Hydration>();
    job->caller = {internal_principal("bot"), tenant_id, {}};
    job->work = BotWork::rebuild_and_launch;
    job->is_resumption = true;
    job->from = BotState::running;
    job->config_version = seen->record.config_version;
    job->config = seen->record.config;
    job->exchange = seen->record.exchange;
    job->account = bot_account_of(tenant_id);
    job->reply = [tenant_id](const Result<Answer>& answer) {
        if (!answer) {
            log_warn(
                "bot_not_resumed",
                {{"tenant_id", tenant_id.text()}, {"message", answer.error().message}});
        }
    };
    hydrate(job);
}

// What keeps its markets from being quoted; `books` gets the time of each market's book.
BotBoard::Done BotService::markets_seen(
    const VenueAccount& account,
    const BotRecord& record,
    const StrategyTicker::Round& round,
    Json& books) const {
    BotBoard::Done done;
    std::size_t held_count = 0;
    const MarketSet market = parts_.feed.facts(record.markets);
    for (const Symbol& symbol : record.markets) {
        const MarketFacts* facts = market.find(symbol);
        const auto maker = parts_.runtime.find(account, bot_strategy_id(symbol));
        if (facts != nullptr) {
            books.set(std::string(symbol.text()), to_text(facts->received_at));
        }
        const auto held = round.held.find(bot_strategy_id(symbol));
        if (held != round.held.end()) {
            done.warnings.push_back(held->second.reason);
            // What the amounts alone say is told from the moment they are set (bot_record.h).
            if (!done.held && held->second.code != "below_minimum") {
                done.held = held->second;
            }
            ++held_count;
        } else if (auto sentence = facts && maker ? maker->why_too_small(*facts) : std::nullopt) {
            done.warnings.push_back(*std::move(sentence));
        }
        if (const auto less = round.smaller.find(bot_strategy_id(symbol));
            less != round.smaller.end()) {
            done.smaller.push_back(less->second);
        }
    }
    if (held_count < record.markets.size()) {
        done.held.reset();
    }
    return done;
}

Result<BotBoard::Done> BotService::look(
    Turn& turn, const BotRecord& record, const Fetched& fetched, Duration due_at) {
    StrategyRuntime::Batch batch{bot_account_of(turn.tenant_id()), {}};
    for (const Symbol& symbol : record.markets) {
        batch.ids.push_back(bot_strategy_id(symbol));
    }
    TRY_ASSIGN(StrategyTicker::Round round, parts_.ticker.look_at(turn, batch));
    if (round.is_waiting) {
        return BotBoard::Done{};  // The venue's news are taken; the strategies come after.
    }
    Json books = Json::object();
    BotBoard::Done done = markets_seen(batch.account, record, round, books);
    done.pulsed = true;
    const auto ids_json = [](const std::vector<StrategyId>& ids) {
        Json list = Json::array();
        for (const StrategyId& id : ids) {
            list.push(id.text());
        }
        return list;
    };
    const Duration waited{fetched.began.microseconds - due_at.microseconds};
    AuditDraft draft = turn.draft("BOT_PULSE");
    draft.step = AuditStep::plan;
    draft.status = round.acting.empty() ? AuditStatus::skipped : AuditStatus::passed;
    draft.reason = !round.acting.empty() ? "orders to change"
                   : round.blocked       ? "blocked: " + round.blocked->code
                                         : "nothing to change";
    draft.detail = Json::object({
        {"due_at", to_text(fetched.began_at - waited)},
        {"fetched",
         Json::object({
             {"account_began_at", to_text(fetched.began_at)},
             {"account_ended_at", to_text(fetched.ended_at)},
             {"books", std::move(books)},
         })},
        {"seen", std::move(round.seen)},
        {"quiet", ids_json(round.quiet)},
        {"acting", ids_json(round.acting)},
    });
    // A pulse that found nothing to do is counted with those before it; one that acts is recorded.
    TRY(turn.audit_repeat(
        std::move(draft),
        {.subject = "pulse", .what = "idle pulse", .varying = {"due_at", "fetched", "seen"}}));
    turn.after_commit([this,
                       account = batch.account,
                       ids = std::move(round.acting),
                       not_after = later(fetched.began, kFactsLife)] {
        for (const StrategyId& id : ids) {
            parts_.submit(guarded(parts_.ticker.act_turn(account, id), not_after));
        }
    });
    return done;
}

// A stop, a closed session, a stall or the loss of the keys may come between a pulse and what its
// strategies wanted to do, or too much time; then they do nothing.
TurnRequest BotService::guarded(TurnRequest act, Duration not_after) const {
    act.decide =
        [this, not_after, decide = std::move(act.decide)](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(const BotRecord record, load(turn));
        TRY_ASSIGN(const std::optional<std::string> exchange, exchange_of(turn));
        const bool trades = record.state == BotState::running && record.is_connected &&
                            !record.stall.is_stalled && exchange.has_value() &&
                            parts_.clock.monotonic() <= not_after;
        return trades ? decide(turn) : Result<TurnReply>(Answer{200, "{}"});
    };
    return act;
}

}  // namespace interlock
