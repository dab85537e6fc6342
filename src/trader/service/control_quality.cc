// Degraded execution of concerns (docs/contracts/control-decision.md#degraded-execution), and what
// concerns add to the risk ladder.
#include "base/log.h"
#include "codec/json_list.h"
#include "trader/service/control_shared.h"

namespace interlock {
namespace {

OrderFate fate_of(const LoopService::OrderNews& news) {
    if (news.fate == EffectFate::done) {
        return OrderFate::acked;
    }
    if (news.fate == EffectFate::unknown) {
        return OrderFate::timed_out;
    }
    return news.order.reject_code == "would_take" ? OrderFate::post_only_rejected
                                                  : OrderFate::rejected;
}

// An order that was to be cancelled before `since` and that the venue has not said to be over.
bool is_cancel_overdue(const AccountView& view, const Symbol& symbol, Timestamp since) {
    const SymbolBook* book = view.account ? find_book(view.books->books, symbol) : nullptr;
    return book != nullptr &&
           std::any_of(book->open.begin(), book->open.end(), [&](const OrderRecord& order) {
               return order.cancel_requested && order.updated_at < since;
           });
}

std::int64_t unknown_orders_of(const AccountView& view, const Symbol& symbol) {
    const SymbolBook* book = find_book(view.books->books, symbol);
    return book == nullptr
               ? 0
               : std::count_if(book->open.begin(), book->open.end(), [](const OrderRecord& order) {
                     return order.state == OrderState::unknown;
                 });
}

// Whether an order that has just come to rest at the venue would have been cancelled had it been
// there a moment earlier, when its strategy was paused, stopped or latched, or its concern
// tightened or made one that only informs.
Result<bool> came_too_late(Turn& turn, const OrderRecord& order, OnPause on_pause) {
    const VenueAccount& account = order.request.account;
    TRY_ASSIGN(const auto concern, load_concern_of(turn, account, order.symbol()));
    if (!concern) {
        return false;
    }
    const bool is_entry = !order.is_reduce;
    if (concern->status == ConcernStatus::informational || concern->risk_mode == RiskMode::halted ||
        (concern->risk_mode == RiskMode::reduce_only && is_entry)) {
        return true;
    }
    TRY_ASSIGN(const auto instance, load_instance(turn, scope_of(account), order.strategy_id));
    if (!instance) {
        return false;  // Of an outside planner.
    }
    const bool is_paused = instance->paused && (on_pause == OnPause::cancel_all ||
                                                (on_pause == OnPause::cancel_entries && is_entry));
    return is_paused || instance->is_latched || instance->mode != InstanceMode::active;
}

TurnRequest withdraw_turn(LoopService& loop, const VenueAccount& account, const OrderClientId& id) {
    TurnRequest turn;
    turn.tenant_id = account.tenant_id;
    turn.principal = internal_principal("control");
    turn.function = "withdraw_order";
    turn.decide = [&loop, account, id](Turn& t) -> Result<TurnReply> {
        TRY(loop.cancel_orders(
            t,
            {.account = account,
             .decision_id = "sys_control",
             .which = [id](const OrderRecord& order) { return order.id() == id; }}));
        return Answer{200, "{}"};
    };
    turn.reply = [](Result<Answer> answer) {
        if (!answer) {
            log_error("order_withdrawal_failed", {{"message", answer.error().message}});
        }
    };
    return turn;
}

// Orders that stand although nobody may want them: a cancel was lost or refused, or an order
// thought lost was found. They are asked for again.
Result<void> withdraw_late(
    Turn& turn, LoopService& loop, const VenueAccount& account, OnPause on_pause) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    std::set<OrderClientId> late;
    for (const SymbolBook& book : view.books->books) {
        for (const OrderRecord& order : book.open) {
            TRY_ASSIGN(const bool is_late, came_too_late(turn, order, on_pause));
            if (is_late) {
                late.insert(order.id());
            }
        }
    }
    if (late.empty()) {
        return {};
    }
    TRY(loop.cancel_orders(
        turn,
        {.account = account,
         .decision_id = "sys_control",
         .which = [&](const OrderRecord& order) { return late.contains(order.id()); },
         .again = true}));
    return {};
}

}  // namespace

void ControlService::watch(const VenueAccount& account, const Symbol& symbol) {
    concerns_[account].insert(concern_id_of(account.account_id, symbol));
    const std::lock_guard lock(shared_->mutex);
    shared_->windows.try_emplace({account, symbol});
}

void ControlService::note_venue(
    TradeMode mode, std::optional<Timestamp> reached_at, std::int64_t skew_ms) {
    const std::lock_guard lock(shared_->mutex);
    Shared::Reached& venue = shared_->venues[mode];
    if (reached_at) {
        venue.at = reached_at;
    }
    venue.skew_ms = skew_ms;
}

void ControlService::on_order_news(Turn& turn, const LoopService::OrderNews& news) {
    const OrderRecord& order = news.order;
    const auto is_late = is_live(order.state) && news.fate == EffectFate::done
                             ? came_too_late(turn, order, parts_.config.on_pause)
                             : Result<bool>(false);
    if (!is_late || *is_late) {
        turn.after_commit([this, account = order.request.account, id = order.id()] {
            parts_.submit(withdraw_turn(parts_.loop, account, id));
        });
    }
    OrderSample sample{
        .at = turn.now(),
        .fate = fate_of(news),
        .latency = turn.now() - order.created_at,
        .slippage_bps = slippage_bps_of(order),
    };
    turn.after_commit([this, sample, account = order.request.account, symbol = order.symbol()] {
        {
            const std::lock_guard lock(shared_->mutex);
            const auto found = shared_->windows.find({account, symbol});
            if (found == shared_->windows.end()) {
                return;
            }
            found->second.note(sample);
        }
        if (sample.fate != OrderFate::acked) {
            parts_.submit(quality_turn(account, Judgement::after_news));
        }
    });
}

std::vector<TurnRequest> ControlService::quality_turns(Duration now) {
    std::set<VenueAccount> accounts;
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->next_judgement && now < *shared_->next_judgement) {
            return {};
        }
        shared_->next_judgement = {now.microseconds + kQualityEvery.microseconds};
        for (const auto& [market, window] : shared_->windows) {
            accounts.insert(market.account);
        }
    }
    std::vector<TurnRequest> turns;
    for (const VenueAccount& account : accounts) {
        turns.push_back(quality_turn(account, Judgement::regular));
    }
    return turns;
}

TurnRequest ControlService::quality_turn(const VenueAccount& account, Judgement judgement) {
    TurnRequest turn;
    turn.tenant_id = account.tenant_id;
    turn.principal = internal_principal("execution_quality");
    turn.function = "judge_execution";
    turn.decide = [this, account, judgement](Turn& t) -> Result<TurnReply> {
        std::vector<Symbol> symbols;
        {
            const std::lock_guard lock(shared_->mutex);
            for (const auto& [market, window] : shared_->windows) {
                if (market.account == account) {
                    symbols.push_back(market.symbol);
                }
            }
        }
        for (const Symbol& symbol : symbols) {
            TRY(judge(t, account, symbol, judgement));
        }
        if (judgement == Judgement::regular) {
            TRY(withdraw_late(t, parts_.loop, account, parts_.config.on_pause));
        }
        return Answer{200, "{}"};
    };
    turn.reply = [](Result<Answer> answer) {
        if (!answer) {
            log_error("execution_judgement_failed", {{"message", answer.error().message}});
        }
    };
    return turn;
}

Result<void> ControlService::judge(
    Turn& turn, const VenueAccount& account, const Symbol& symbol, Judgement judgement) {
    TRY_ASSIGN(const auto concern, load_concern_of(turn, account, symbol));
    if (!concern) {
        return {};
    }
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    QualityFacts facts;
    facts.now = turn.now();
    facts.unknown_orders = unknown_orders_of(view, symbol);
    facts.cancel_unconfirmed =
        is_cancel_overdue(view, symbol, turn.now() - parts_.config.cancel_timeout);
    const MarketSet market = parts_.feed.facts(std::vector<Symbol>{symbol});
    if (const MarketFacts* seen = market.find(symbol)) {
        facts.market_age_sec = staleness_seconds_of(*seen, turn.now());
    }
    ExecutionWindow window;
    {
        const std::lock_guard lock(shared_->mutex);
        window = shared_->windows[{account, symbol}];
        const Shared::Reached& venue = shared_->venues[account.mode];
        facts.last_venue_success = venue.at;
        facts.clock_skew_ms = venue.skew_ms;
    }
    window.drop_old(turn.now());
    const QualityState before{
        concern->quality, concern->quality_reasons, concern->clean_evaluations};
    const QualityVerdict verdict = judge_quality(window, facts);
    const QualityState after = step_quality(before, verdict);
    const bool only_news = judgement == Judgement::after_news;
    if (after == before || (only_news && verdict.quality <= before.quality)) {
        return {};
    }
    Concern next = *concern;
    next.quality = after.quality;
    next.quality_reasons = after.reasons;
    next.clean_evaluations = after.clean_evaluations;
    if (auto note = quality_note(next, before.quality)) {
        TRY(put_on_record(turn, *std::move(note)));
    }
    save_concern(turn, std::move(next));
    return {};
}

Json ControlService::execution_of(const Concern& concern, Timestamp now) const {
    ExecutionWindow window;
    std::optional<Timestamp> reached;
    {
        const std::lock_guard lock(shared_->mutex);
        const auto found = shared_->windows.find({concern.account, concern.symbol});
        if (found != shared_->windows.end()) {
            window = found->second;
        }
        reached = shared_->venues[concern.account.mode].at;
    }
    window.drop_old(now);
    std::int64_t acked = 0;
    std::int64_t rejected = 0;
    std::int64_t measured = 0;
    std::int64_t latency_max = 0;
    std::optional<Decimal> worst_slippage;
    for (const OrderSample& sample : window.samples()) {
        acked += sample.fate == OrderFate::acked ? 1 : 0;
        rejected += sample.fate == OrderFate::rejected ? 1 : 0;
        latency_max = std::max(latency_max, sample.latency.microseconds / 1000);
        if (sample.slippage_bps) {
            ++measured;
            worst_slippage =
                std::max(worst_slippage.value_or(*sample.slippage_bps), *sample.slippage_bps);
        }
    }
    return Json::object({
        {"orders", window.samples().size()},
        {"acknowledged", acked},
        {"slippage_samples", measured},
        {"rejections", rejected},
        {"latency_ms_max", latency_max},
        {"slippage_bps_worst", worst_slippage ? Json(to_text(*worst_slippage)) : Json()},
        {"execution_quality", to_word(concern.quality)},
        {"reasons", json_list(concern.quality_reasons)},
        {"venue_reached_at", reached ? Json(to_text(*reached)) : Json()},
    });
}

}  // namespace interlock
