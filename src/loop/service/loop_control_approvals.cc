// What approvals of the loop carry out, and the steps out of a stop: recovery, drawdown, flows,
// alerts. Values an approval was asked for are looked at again when it is given; when they have
// moved it carries out nothing (I8).
#include <algorithm>

#include "account/rules/facts.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "loop/service/loop_control.h"
#include "loop/service/transfer_day.h"

namespace interlock {
namespace {

std::string alerts_key(const TenantId& tenant_id) {
    return "alerts/" + tenant_id.text();
}

Result<TradeMode> mode_in(const Json& payload, std::string_view key) {
    FieldReader in(payload);
    return in.finish(read_trade_mode(in, key));
}

Error moved(const std::string& what) {
    return fail(errors::base_moved, what + " changed since the approval was asked for.").error();
}

Result<AlertSuppressions> load_suppressions(Turn& turn) {
    TRY_ASSIGN(
        AlertSuppressions suppressions,
        turn.load_or<AlertSuppressions>(
            alerts_key(turn.tenant_id()), decode_alert_suppressions, AlertSuppressions{}));
    std::erase_if(
        suppressions.list, [&](const AlertSuppression& one) { return one.until <= turn.now(); });
    return suppressions;
}

bool is_suppressed(const AlertSuppressions& suppressions, const std::string& event) {
    return std::any_of(
        suppressions.list.begin(), suppressions.list.end(), [&](const AlertSuppression& one) {
            return one.event == event;
        });
}

// The market in which an asset is the base, for its price and book.
struct FlowMarket {
    Decimal price;
    std::optional<MarketRules> rules;
};

Result<FlowMarket> market_for(
    const MarketFeed& feed, const Account& account, const ConfirmFlowRequest& request) {
    if (request.asset == account.quote) {
        return FlowMarket{.price = Decimal(1), .rules = std::nullopt};
    }
    FlowMarket market{.price = request.price.value_or(Decimal()), .rules = std::nullopt};
    const std::vector<Symbol> symbols = feed.symbols();
    const MarketSet set = feed.facts(symbols);
    for (const Symbol& symbol : symbols) {
        const MarketFacts* facts = set.find(symbol);
        if (facts != nullptr && facts->rules.base == request.asset &&
            facts->rules.quote == account.quote) {
            market.rules = facts->rules;
            if (!request.price && mid_of(*facts)) {
                market.price = *mid_of(*facts);
            }
        }
    }
    if (market.price.is_zero()) {
        return fail(
            errors::stale_market_data,
            "There is no price of " + std::string(request.asset.text()) + ".",
            "Send the price the flow is to be booked at.");
    }
    return market;
}

SymbolBook& book_of(std::vector<SymbolBook>& books, const MarketRules& rules) {
    if (SymbolBook* found = find_book(books, rules.symbol)) {
        return *found;
    }
    SymbolBook book;
    book.symbol = rules.symbol;
    book.base = rules.base;
    book.quote = rules.quote;
    const auto place = std::lower_bound(
        books.begin(), books.end(), rules.symbol, [](const SymbolBook& one, const Symbol& symbol) {
            return one.symbol < symbol;
        });
    return *books.insert(place, std::move(book));
}

}  // namespace

void LoopControl::register_kinds() {
    const auto add = [this](ApprovalKind kind, auto execute) {
        parts_.approvals.register_kind(
            kind,
            {.execute = [this, execute](
                            Turn& turn,
                            const Approval& approval) { return (this->*execute)(turn, approval); },
             // Nothing waits for the answer, so an approval that ends leaves nothing to undo.
             .ended = [](Turn&, const Approval&) -> Result<void> { return {}; }});
    };
    add(ApprovalKind::risk_limits, &LoopControl::execute_limits);
    add(ApprovalKind::live_mode, &LoopControl::execute_mode);
    add(ApprovalKind::treasury_transfer, &LoopControl::execute_transfer);
    add(ApprovalKind::universe_change, &LoopControl::execute_universe);
    add(ApprovalKind::alert_suppression, &LoopControl::execute_suppression);
}

Result<LoopControl::Opened> LoopControl::load(Turn& turn, const Json& payload) {
    FieldReader in(payload);
    const Json* named = in.required_object("account");
    if (named == nullptr) {
        return fail(errors::corrupt_data, "An approval names no account.");
    }
    TRY_ASSIGN(const VenueAccount key, decode_venue_account(*named));
    TRY_ASSIGN(const AccountView view, load_account(turn, key));
    if (!view.account || key.tenant_id != turn.tenant_id()) {
        return fail(errors::unknown_account, "The account of this approval does not exist.");
    }
    return Opened{*view.account, *view.books};
}

Result<void> LoopControl::execute_limits(Turn& turn, const Approval& approval) {
    const Json& payload = approval.payload;
    FieldReader in(payload);
    if (in.required<std::string>("change") == "reset_drawdown") {
        return execute_reset(turn, payload);
    }
    const Json* from = in.required_object("from");
    const Json* to = in.required_object("to");
    if (from == nullptr || to == nullptr) {
        return fail(errors::corrupt_data, "An approval of limits names no values.");
    }
    TRY_ASSIGN(Opened opened, load(turn, payload));
    TRY_ASSIGN(const std::vector<LimitChange> base, decode_limit_changes(*from));
    TRY_ASSIGN(const std::vector<LimitChange> changes, decode_limit_changes(*to));
    for (const LimitChange& change : base) {
        if (opened.account.limits.*change.spec->member != change.value) {
            return std::unexpected(moved(std::string(change.spec->name)));
        }
    }
    for (const LimitChange& change : changes) {
        opened.account.limits.*change.spec->member = change.value;
    }
    ++opened.account.version;
    TRY(audit(
        turn,
        {.event = "LIMITS_CHANGED",
         .account = &opened.account,
         .reason = approval.summary,
         .detail = Json::object({{"from", *from}, {"to", *to}})}));
    parts_.loop.put_account(turn, std::move(opened.account));
    return {};
}

MarketSet LoopControl::market_of(const Opened& opened) const {
    std::vector<Symbol> symbols;
    for (const SymbolBook& book : opened.books.books) {
        symbols.push_back(book.symbol);
    }
    return parts_.feed.facts(symbols);
}

Result<void> LoopControl::execute_reset(Turn& turn, const Json& payload) {
    FieldReader in(payload);
    const Decimal peak = in.required<Decimal>("peak");
    TRY_ASSIGN(Opened opened, load(turn, payload));
    if (!opened.account.tier.drawdown_latched_at || opened.account.money.peak != peak) {
        return std::unexpected(moved("The peak or its stop"));
    }
    const std::optional<Decimal> equity =
        equity_of(opened.account, opened.books.books, market_of(opened));
    if (!equity) {
        return fail(errors::stale_market_data, "A held asset has no price now.");
    }
    reset_drawdown(opened.account, *equity);
    TRY(audit(
        turn,
        {.event = "DRAWDOWN_RESET",
         .account = &opened.account,
         .reason = "the peak starts again at today's equity",
         .detail = Json::object({{"from_peak", to_text(peak)}, {"to_peak", to_text(*equity)}})}));
    parts_.loop.put_account(turn, std::move(opened.account));
    return {};
}

Result<void> LoopControl::execute_mode(Turn& turn, const Approval& approval) {
    TRY_ASSIGN(const TradeMode from, mode_in(approval.payload, "from"));
    TRY_ASSIGN(const TradeMode to, mode_in(approval.payload, "to"));
    TRY_ASSIGN(const LoopMode now, load_loop_mode(turn, turn.tenant_id()));
    if (now.mode != from) {
        return std::unexpected(moved("The mode"));
    }
    if (to == TradeMode::live && !parts_.config.live_available) {
        return fail(errors::live_not_enabled, "This server has no live venue.");
    }
    TRY(audit(
        turn,
        {.event = "MODE_CHANGED",
         .reason = approval.summary,
         .detail = Json::object({{"from", to_word(from)}, {"to", to_word(to)}})}));
    return save_mode(turn, from, to);
}

Result<void> LoopControl::execute_transfer(Turn& turn, const Approval& approval) {
    FieldReader in(approval.payload);
    TransferRequest wanted;
    TRY_ASSIGN(wanted.from, parse_treasury_book(in.required<std::string>("from")));
    TRY_ASSIGN(wanted.to, parse_treasury_book(in.required<std::string>("to")));
    wanted.amount = in.required<Decimal>("amount");
    TRY_ASSIGN(Opened opened, load(turn, approval.payload));
    TRY(treasury_transfer(opened.account, opened.books.books, wanted));
    TRY(audit(
        turn,
        {.event = "TREASURY_TRANSFERRED",
         .account = &opened.account,
         .reason = approval.summary,
         .detail = Json::object({
             {"from", to_word(wanted.from)},
             {"to", to_word(wanted.to)},
             {"amount", to_text(wanted.amount)},
         })}));
    TRY(note_transfer(turn, opened.account.key, wanted.amount));
    parts_.loop.put_account(turn, std::move(opened.account));
    return {};
}

Result<void> LoopControl::execute_universe(Turn& turn, const Approval& approval) {
    TRY_ASSIGN(Opened opened, load(turn, approval.payload));
    FieldReader in(approval.payload);
    const Json::Array& add = in.required_array("add", kUniverseChangesMax);
    for (const Json& item : add) {
        TRY_ASSIGN(const Symbol symbol, Symbol::parse(item.is_string() ? item.as_string() : ""));
        opened.account.universe.insert(symbol);
    }
    if (opened.account.universe.size() > kUniverseMax) {
        return std::unexpected(moved("The universe"));
    }
    ++opened.account.version;
    TRY(audit(
        turn,
        {.event = "UNIVERSE_CHANGED",
         .account = &opened.account,
         .reason = approval.summary,
         .detail = Json::object({{"added", Json(add)}})}));
    parts_.loop.put_account(turn, std::move(opened.account));
    return {};
}

Result<void> LoopControl::execute_suppression(Turn& turn, const Approval& approval) {
    FieldReader in(approval.payload);
    const std::string event = in.required<std::string>("event");
    const std::int64_t hours = in.required_integer("hours", 1, kSuppressionHoursMax);
    TRY_ASSIGN(AlertSuppressions suppressions, load_suppressions(turn));
    std::erase_if(
        suppressions.list, [&](const AlertSuppression& one) { return one.event == event; });
    if (suppressions.list.size() >= kSuppressionsMax) {
        return fail(errors::conflict, "As many alerts are suppressed as may be.");
    }
    const Timestamp until = turn.now() + Duration::of_hours(hours);
    suppressions.list.push_back({event, until, approval.approval_id.text()});
    TRY(audit(
        turn,
        {.event = "ALERT_SUPPRESSED",
         .reason = approval.summary,
         .detail = Json::object({{"event", event}, {"until", to_text(until)}})}));
    turn.save(alerts_key(turn.tenant_id()), encode(suppressions));
    return {};
}

Result<TurnReply> LoopControl::run(Turn& turn, const SuppressAlertRequest& request) {
    return ask(
        turn,
        {.kind = ApprovalKind::alert_suppression,
         .payload = Json::object({{"event", request.event}, {"hours", request.hours}}),
         .summary = "Keep the alert " + request.event + " out of the feed for " +
                    std::to_string(request.hours) + " hours"},
        Json::object({{"event", request.event}, {"hours", request.hours}}));
}

Result<TurnReply> LoopControl::run(Turn& turn, const ResumeRecoveryRequest& request) {
    TRY_ASSIGN(const Opened opened, open(turn, request.call.account_id));
    if (opened.account.recovery.phase != RecoveryPhase::escalated) {
        return fail(errors::not_escalated, "Safe recovery of this account is not escalated.");
    }
    TRY_ASSIGN(const Decimal exposure, worst_case_exposure(opened.books.books));
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "RECOVERY_RESUMED",
             .account = &opened.account,
             .reason = request.call.reason}));
    TRY(parts_.loop.recover(
        turn,
        opened.account.key,
        resume_recovery(
            opened.account.recovery,
            {.at = turn.now(), .reasons = {"resumed_by_human"}, .exposure = exposure})));
    return Answer{
        200,
        to_text(
            Json::object({{"phase", "recovering"}, {"status", "applied"}, {"audit_ref", ref}}))};
}

// The peak is set back by approval only.
Result<TurnReply> LoopControl::run(Turn& turn, const ResetDrawdownRequest& request) {
    TRY_ASSIGN(const Opened opened, open(turn, request.call.account_id));
    if (!opened.account.tier.drawdown_latched_at) {
        return fail(errors::drawdown_not_latched, "No drawdown stop holds on this account.");
    }
    const std::string peak = to_text(opened.account.money.peak);
    return ask(
        turn,
        {.kind = ApprovalKind::risk_limits,
         .payload = Json::object(
             {{"change", "reset_drawdown"},
              {"account", encode(opened.account.key)},
              {"peak", peak}}),
         .summary = "Lift the drawdown stop: the peak " + peak + " starts again at today's equity",
         .critical = true},
        Json::object({{"peak", peak}}));
}

Result<TurnReply> LoopControl::run(Turn& turn, const ConfirmFlowRequest& request) {
    TRY_ASSIGN(Opened opened, open(turn, request.call.account_id));
    const auto flow = std::find_if(
        opened.account.external_flows.begin(),
        opened.account.external_flows.end(),
        [&](const ExternalFlow& one) { return one.asset == request.asset; });
    if (flow == opened.account.external_flows.end()) {
        return fail(
            errors::not_found,
            "No flow of " + std::string(request.asset.text()) + " waits to be confirmed.");
    }
    TRY_ASSIGN(const FlowMarket market, market_for(parts_.feed, opened.account, request));
    Json answer = Json::object({
        {"asset", request.asset.text()},
        {"amount", to_text(flow->amount)},
        {"price", to_text(market.price)},
    });
    SymbolBook* book = market.rules ? &book_of(opened.books.books, *market.rules) : nullptr;
    TRY(confirm_external_flow(opened.account, request.asset, market.price, book));
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "EXTERNAL_FLOW_CONFIRMED",
             .account = &opened.account,
             .reason = request.call.reason,
             .detail = answer}));
    save_books(turn, opened.account.key, std::move(opened.books));
    parts_.loop.put_account(turn, std::move(opened.account));
    answer.set("status", "applied");
    answer.set("audit_ref", ref);
    return Answer{200, to_text(answer)};
}

void LoopControl::list_alerts(Caller caller, AlertPage page, Reply reply) {
    constexpr std::int64_t kWindow = 500;
    const auto head = parts_.ledger.head(caller.tenant_id);
    if (!head) {
        reply(std::unexpected(head.error()));
        return;
    }
    std::vector<AuditRecord> alerts;
    std::int64_t seq = page.before > 0 ? std::min(page.before - 1, head->seq) : head->seq;
    const std::int64_t last = std::max<std::int64_t>(0, seq - kAlertScanMax);
    std::int64_t read = 0;
    while (seq > last && static_cast<std::int64_t>(alerts.size()) < page.limit) {
        const std::int64_t from = std::max(last, seq - kWindow);
        auto records = parts_.ledger.read(caller.tenant_id, from, seq - from);
        if (!records) {
            reply(std::unexpected(std::move(records).error()));
            return;
        }
        read += std::ssize(*records);
        for (auto at = records->rbegin();
             at != records->rend() && static_cast<std::int64_t>(alerts.size()) < page.limit;
             ++at) {
            seq = at->seq - 1;
            if (at->draft.severity == AuditSeverity::critical) {
                alerts.push_back(std::move(*at));
            }
        }
        seq = records->empty() ? from : seq;
    }
    if (page.on_records_read) {
        page.on_records_read(read);
    }
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "list_alerts";
    turn.reply = std::move(reply);
    turn.decide = [alerts = std::move(alerts), seq](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const AlertSuppressions suppressions, load_suppressions(t));
        Json shown = Json::array();
        std::int64_t suppressed = 0;
        for (const AuditRecord& record : alerts) {
            if (is_suppressed(suppressions, record.draft.event)) {
                ++suppressed;
            } else {
                shown.push(encode(record));
            }
        }
        return Answer{
            200,
            to_text(Json::object({
                {"alerts", std::move(shown)},
                {"suppressed", suppressed},
                {"next_before", seq > 0 ? Json(seq + 1) : Json()},
            }))};
    };
    parts_.submit(std::move(turn));
}

}  // namespace interlock
