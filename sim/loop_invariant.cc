#include "sim/loop_invariant.h"

#include <algorithm>
#include <array>

#include "base/canonical_json.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/gates.h"
#include "loop/rules/order_identity.h"
#include "loop/service/loop_service.h"
#include "sim/planner.h"
#include "trader/rules/strategy.h"

namespace interlock::sim {
namespace {

// Absent answers without which nobody may say that an order never arrived.
constexpr int kAbsencesNeeded = 3;
// Estimates of gates and reservations may differ by the collar; beyond this a limit is exceeded.
constexpr Decimal kSlack = Decimal::from_units(1'010'000'000'000'000'000);

constexpr std::array<std::string_view, 5> kEffectKinds{
    "probe", kOrderEffect, kCancelKind, kCancelAllKind, kReportKind};

std::string name_of(const VenueAccount& account, const OrderClientId& id) {
    return id.text() + " of " + account.tenant_id.text();
}

bool has_entries(const Decision& decision) {
    return std::any_of(
        decision.plan.intents.begin(), decision.plan.intents.end(), [](const Intent& intent) {
            return intent.side == Side::buy;
        });
}

std::string bytes_of(const Json& json) {
    auto text = canonical_json(json);
    return text ? *std::move(text) : std::string("no canonical form");
}

}  // namespace

std::vector<VenueAccount> LoopInvariant::accounts() const {
    std::vector<VenueAccount> names;
    for (const auto& [account, held] : accounts_) {
        names.push_back(account);
    }
    return names;
}

const Account* LoopInvariant::find_account(const VenueAccount& account) const {
    const auto found = accounts_.find(account);
    return found == accounts_.end() ? nullptr : found->second.account.get();
}

std::shared_ptr<const SeenFacts> LoopInvariant::seen_by(const TenantId& tenant_id) const {
    const auto found = seen_.find(tenant_id);
    return found == seen_.end() ? nullptr : found->second;
}

bool LoopInvariant::is_recovering(const VenueAccount& account) const {
    return accounts_.at(account).account->recovery.phase != RecoveryPhase::normal;
}

void LoopInvariant::on_commit(const TurnCommit& turn, std::span<const AuditRecord> records) {
    for (const OutboxItem& item : turn.outbox) {
        if (std::find(kEffectKinds.begin(), kEffectKinds.end(), item.kind) == kEffectKinds.end()) {
            broken("N4", "an effect of a kind nobody allowed: " + item.kind);
        }
    }
    for (const ArtifactWrite& artifact : turn.artifacts) {
        artifacts_.try_emplace("sha256:" + artifact.hash, artifact.bytes);
    }
    check_secrets(turn);
    latest_orders_.clear();
    latest_accounts_.clear();
    Changes changes = take_states(turn);
    for (const AuditRecord& record : records) {
        if (record.draft.event == "VALIDATION_RESULT") {
            Changes::Rounds& rounds = changes.rounds[record.draft.decision_id];
            ++rounds.total;
            ++rounds.left;
        }
    }
    for (const AuditRecord& record : records) {
        on_record(record, changes);
    }
    for (const auto& [account, before] : changes.before) {
        const Held& held = accounts_.at(account);
        if (held.account && held.books) {
            check_money(account, held);
            check_reservations(account, held);
        }
    }
}

void LoopInvariant::check_secrets(const TurnCommit& turn) {
    const auto look = [&](std::string_view text, std::string_view where) {
        if (text.find(kSlippedKey) != std::string_view::npos) {
            broken("N8", "an access key is kept in " + std::string(where));
        }
    };
    for (const LedgerEntry& entry : turn.audit) {
        look(entry.canonical_json, "a record");
    }
    for (const StateWrite& state : turn.states) {
        look(state.json, "the state " + state.machine_key);
    }
    for (const ArtifactWrite& artifact : turn.artifacts) {
        look(artifact.bytes, "an artifact");
    }
    for (const AnswerWrite& answer : turn.answers) {
        look(answer.answer.body.value_or(""), "the answer to " + answer.key.function);
    }
    for (const OutboxItem& item : turn.outbox) {
        look(item.json, "an effect");
    }
}

LoopInvariant::Changes LoopInvariant::take_states(const TurnCommit& turn) {
    Changes changes;
    for (const StateWrite& state : turn.states) {
        const bool ours = state.machine_key.starts_with("account/") ||
                          state.machine_key.starts_with("order/") ||
                          state.machine_key.starts_with("decision/");
        const auto json = ours ? parse_json(state.json) : Result<Json>(Json());
        if (!json) {
            broken("durability", "a state that cannot be read was committed");
            continue;
        }
        if (state.machine_key.starts_with("account/")) {
            on_account(*json, changes);
        } else if (state.machine_key.starts_with("order/")) {
            on_order(*json, changes);
        } else if (state.machine_key.starts_with("decision/")) {
            if (auto decision = decode_decision(*json)) {
                changes.decisions[decision->decision_id] = *std::move(decision);
            }
        }
    }
    for (const StateWrite& state : turn.states) {
        if (state.machine_key.starts_with("books/")) {
            on_books(state, changes);
        }
    }
    return changes;
}

LoopInvariant::Held& LoopInvariant::touch(const VenueAccount& account, Changes& changes) {
    Held& held = accounts_[account];
    changes.before.try_emplace(account, Before{held.account, held.books});
    return held;
}

void LoopInvariant::on_books(const StateWrite& state, Changes& changes) {
    const auto json = parse_json(state.json);
    auto books = json ? decode_account_books(*json) : Result<AccountBooks>(AccountBooks{});
    if (!json || !books) {
        broken("durability", "books that cannot be read were committed");
        return;
    }
    for (const VenueAccount& account : accounts()) {
        if (books_key(account) == state.machine_key) {
            touch(account, changes).books = std::make_shared<const AccountBooks>(*std::move(books));
            return;
        }
    }
}

void LoopInvariant::on_account(const Json& json, Changes& changes) {
    auto account = decode_account(json);
    if (!account) {
        broken("durability", "an account that cannot be read was committed");
        return;
    }
    const VenueAccount key = account->key;
    latest_accounts_.insert(key);
    Held& held = touch(key, changes);
    if (held.account && !(held.account->limits == account->limits)) {
        broken("N7", "the limits of " + key.tenant_id.text() + " changed without an approval");
    }
    held.account = std::make_shared<const Account>(*std::move(account));
}

void LoopInvariant::on_order(const Json& json, Changes& changes) {
    const auto decoded = decode_order_record(json);
    if (!decoded) {
        broken("durability", "an order that cannot be read was committed");
        return;
    }
    const OrderRecord& order = *decoded;
    latest_orders_.push_back(order);
    const VenueAccount& account = order.request.account;
    Held& held = touch(account, changes);
    if (is_settled(order)) {
        held.unsettled.erase(order.id());
    } else {
        held.unsettled.insert(order.id());
    }
    const auto [place, is_new] = orders_.try_emplace({account, order.id()}, order);
    const OrderRecord before = place->second;
    if (is_new) {
        changes.written_ahead.insert({account, order.id()});
    }
    place->second = order;
    if (before.request != order.request || before.decision_id != order.decision_id) {
        broken("order_id", name_of(account, order.id()) + " became another order");
    }
    const bool was_open = is_new || is_live(before.state);
    const VenueModel::Word word = venue_.word_of(account, order.id());
    counts_.unknown += order.state == OrderState::unknown && before.state != order.state ? 1 : 0;
    if (was_open && order.state == OrderState::never_arrived && word.absences < kAbsencesNeeded) {
        broken("I4", name_of(account, order.id()) + " counts as never arrived without the proof");
    }
    if (was_open && order.state == OrderState::rejected && word.was_sent && !word.was_refused) {
        broken("I4", name_of(account, order.id()) + " counts as failed, but nobody refused it");
    }
}

void LoopInvariant::on_record(const AuditRecord& record, Changes& changes) {
    const AuditDraft& draft = record.draft;
    if (draft.event == "FILL_BOOKED") {
        on_fill(record);
        return;
    }
    const auto found = changes.decisions.find(draft.decision_id);
    if (found == changes.decisions.end()) {
        return;
    }
    const Decision& decision = found->second;
    const bool passed = draft.status == AuditStatus::passed;
    Changes::Rounds& rounds = changes.rounds[draft.decision_id];
    const bool is_in_row =
        decision.from_outside || (rounds.left <= 1 && decision.attempt == rounds.total);
    if (draft.event == "VALIDATION_RESULT") {
        if (is_in_row) {
            check_validation(decision, passed);
            check_plan(decision);
        }
        --rounds.left;
    } else if (draft.event == "DRY_RUN_RESULT") {
        if (is_in_row && rounds.left <= 0) {
            check_dry_run(decision, passed, changes);
        }
    } else if (draft.event == "EXECUTION_ATTEMPT" && draft.status == AuditStatus::started) {
        check_execution(decision, changes);
    } else if (draft.event == "DECISION_RECORDED" && draft.actor != AuditActor::codex) {
        note_recorded(decision, record);
    }
}

void LoopInvariant::on_fill(const AuditRecord& record) {
    const Json* symbol = record.draft.detail.find("symbol");
    const Json* trade = record.draft.detail.find("trade_id");
    const auto market =
        Symbol::parse(symbol != nullptr && symbol->is_string() ? symbol->as_string() : "");
    const auto trade_id = trade == nullptr ? std::nullopt : trade->as_int64();
    if (!market || !trade_id) {
        broken("books", "a booked fill cannot be read: " + to_text(record.draft.detail));
        return;
    }
    ++counts_.fills;
    for (auto& [account, held] : accounts_) {
        if (account.tenant_id == record.draft.tenant_id &&
            !held.trades.insert({*market, *trade_id}).second) {
            broken(
                "books",
                "trade " + std::to_string(*trade_id) + " of " + account.tenant_id.text() +
                    " was booked twice");
        }
    }
}

std::shared_ptr<const SeenFacts> LoopInvariant::facts_of(const StepInputs& inputs) {
    if (latest_facts_ && inputs == latest_inputs_) {
        ++counts_.replays;
        return latest_facts_;
    }
    const auto state_text = artifacts_.find(inputs.state_ref);
    const auto market_text = artifacts_.find(inputs.market_ref);
    if (state_text == artifacts_.end() || market_text == artifacts_.end()) {
        broken("I9", "the inputs of a step were not kept");
        return nullptr;
    }
    const auto state_json = parse_json(state_text->second);
    const auto market_json = parse_json(market_text->second);
    auto state = state_json ? decode_state_facts(*state_json) : Result<StateFacts>(StateFacts{});
    auto market = market_json ? decode_market_set(*market_json) : Result<MarketSet>(MarketSet{});
    if (!state_json || !market_json || !state || !market) {
        broken(
            "I9",
            "the inputs of a step cannot be read back: " + (!state    ? state.error().message
                                                            : !market ? market.error().message
                                                                      : "no JSON"));
        return nullptr;
    }
    ++counts_.replays;
    latest_inputs_ = inputs;
    latest_facts_ =
        std::make_shared<const SeenFacts>(SeenFacts{*std::move(state), *std::move(market)});
    return latest_facts_;
}

void LoopInvariant::check_validation(const Decision& decision, bool passed) {
    const auto facts = facts_of(decision.validate_inputs);
    if (!facts) {
        return;
    }
    const GateReport again = run_gates({
        .state = facts->state,
        .market = facts->market,
        .plan = decision.plan,
        .decision_id = decision.decision_id,
        .tick_id = decision.tick_id,
        .has_idempotency_key = true,
        .wanted_mode = decision.account.mode,
        .from_outside = decision.from_outside,
    });
    // The rules written down once more come first: they name what is wrong.
    limits_.judge(
        {facts->state, facts->market, decision.plan},
        decision.validation,
        decision.decision_id.text());
    if (again.pass != passed || bytes_of(encode(again)) != bytes_of(decision.validation)) {
        broken("I9", "the gates say something else of " + decision.decision_id.text() + " again");
    }
    seen_[decision.account.tenant_id] = facts;
}

// What a strategy planned once, it plans again from what was recorded.
void LoopInvariant::check_plan(const Decision& decision) {
    if (decision.planner_input.is_null() || decision.attempt != 1) {
        return;
    }
    const auto facts = facts_of(decision.validate_inputs);
    if (!facts) {
        return;
    }
    const auto again = replan(decision.planner_input, facts->state, facts->market);
    if (!again || bytes_of(encode(*again)) != bytes_of(encode(decision.plan))) {
        broken("I9", "the strategy plans something else in " + decision.decision_id.text());
    }
}

void LoopInvariant::check_dry_run(const Decision& decision, bool passed, const Changes& changes) {
    const auto facts = facts_of(decision.dry_run_inputs);
    if (!facts) {
        return;
    }
    DryRunInput input{
        .state = facts->state,
        .market = facts->market,
        .plan = decision.plan,
        .slippage_bps = decision.slippage_bps,
        .fee_bps = decision.fee_bps,
        .conflicts = {},
    };
    for (const Intent& intent : decision.plan.intents) {
        const OrderClientId id = derive_order_client_id(decision.decision_id, intent);
        const OrderName name{decision.account, id};
        if (orders_.contains(name) && !changes.written_ahead.contains(name)) {
            input.conflicts.push_back(id);
        }
    }
    const DryRunReport again = run_dry_run(input);
    Json recorded = decision.dry_run;
    if (Json* rows = recorded.find("projected")) {
        for (Json& row : rows->items()) {
            std::erase_if(row.members(), [](const Json::Member& member) {
                return member.first == "intent_id" || member.first == "order_client_id";
            });
        }
    }
    limits_.judge_books(
        {facts->state, facts->market, decision.plan},
        decision.dry_run,
        decision.decision_id.text());
    if (again.pass != passed || bytes_of(encode(again)) != bytes_of(recorded)) {
        broken(
            "I9", "the dry run says something else of " + decision.decision_id.text() + " again");
    }
}

void LoopInvariant::check_execution(const Decision& decision, const Changes& changes) {
    const auto facts = facts_of(decision.execute_inputs);
    const auto before = changes.before.find(decision.account);
    if (!facts || before == changes.before.end()) {
        return;
    }
    const GateReport again = run_gates({
        .state = facts->state,
        .market = facts->market,
        .plan = decision.plan,
        .decision_id = decision.decision_id,
        .tick_id = decision.tick_id,
        .has_idempotency_key = true,
        .wanted_mode = decision.account.mode,
        .from_outside = decision.from_outside,
    });
    if (!again.pass) {
        broken("N2", decision.decision_id.text() + " is executed although a gate says no");
    }
    for (const OrderRecord& order : latest_orders_) {
        if (order.decision_id == decision.decision_id) {
            check_touch(order, *facts);
        }
    }
    for (const Execution& row : decision.execution) {
        if (decision.tick_id.empty() || decision.decision_id.empty() ||
            row.order_client_id.empty()) {
            broken("N5", "an order without its ids in " + decision.decision_id.text());
        }
    }
    if (has_entries(decision)) {
        check_entries(decision, before->second);
        check_limits(decision, accounts_.at(decision.account));
    }
}

// Slippage is measured against the best price of the facts that let the order go, whatever the
// caller assumed.
void LoopInvariant::check_touch(const OrderRecord& order, const SeenFacts& facts) {
    const MarketFacts* market = facts.market.find(order.symbol());
    const auto touch = market == nullptr                 ? std::nullopt
                       : order.request.side == Side::buy ? market->best_ask
                                                         : market->best_bid;
    if (order.touch_price != touch) {
        broken(
            "slippage",
            name_of(order.request.account, order.id()) + " keeps the touch " +
                (order.touch_price ? to_text(*order.touch_price) : "of nothing") +
                ", its facts say " + (touch ? to_text(*touch) : "nothing"));
    }
}

void LoopInvariant::note_recorded(const Decision& decision, const AuditRecord& record) {
    const auto bytes = artifacts_.find(record.draft.artifacts.back());
    const auto delta = bytes == artifacts_.end() ? fail(errors::corrupt_data, "it is not there")
                                                 : parse_json(bytes->second);
    const Json* orders = delta ? delta->find("orders") : nullptr;
    if (orders == nullptr || orders->items().size() != decision.execution.size()) {
        broken("slippage", decision.decision_id.text() + " is recorded without its state delta");
        return;
    }
    for (const Json& row : orders->items()) {
        FieldReader in(row);
        const auto id = in.required<OrderClientId>("order_client_id");
        const RecordedOrder order{
            .filled_qty = in.required<Decimal>("filled_qty"),
            .filled_quote = in.required<Decimal>("filled_quote"),
            .slippage_bps = in.required_nullable<Decimal>("slippage_bps"),
        };
        // One that was thought lost may still turn up; the others are over for good.
        const auto state = in.required<std::string>("state");
        const bool is_over = state == "filled" || state == "canceled";
        if (is_over && in.required<Decimal>("open_qty").is_zero()) {
            recorded_.insert_or_assign({decision.account, id}, order);
        }
    }
}

// N6: nothing is opened while the fate of an order is open or the account recovers.
void LoopInvariant::check_entries(const Decision& decision, const Before& before) {
    if (before.account && before.account->recovery.phase != RecoveryPhase::normal) {
        broken("N6", decision.decision_id.text() + " opens a position during safe recovery");
    }
    for (const SymbolBook& book : before.books ? before.books->books : std::vector<SymbolBook>{}) {
        for (const OrderRecord& order : book.open) {
            if (order.state == OrderState::unknown) {
                broken(
                    "N6",
                    decision.decision_id.text() + " opens a position while the fate of " +
                        order.id().text() + " is not known");
            }
        }
    }
}

// N3: what is held, what may still be bought at its worst, and the limits.
void LoopInvariant::check_limits(const Decision& decision, const Held& now) {
    const auto market = artifacts_.find(decision.execute_inputs.market_ref);
    const auto json = parse_json(market->second);
    const auto set = json ? decode_market_set(*json) : Result<MarketSet>(MarketSet{});
    if (!set || !now.account || !now.books) {
        return;
    }
    const RiskLimits& limits = now.account->limits;
    Decimal total;
    for (const SymbolBook& book : now.books->books) {
        const MarketFacts* facts = set->find(book.symbol);
        const auto mid = facts == nullptr ? std::nullopt : mid_of(*facts);
        if (!mid) {
            broken("N3", decision.decision_id.text() + " is executed without a price");
            return;
        }
        Decimal exposure = or_huge(multiply_round_up(book.position, *mid));
        for (const OrderRecord& order : book.open) {
            if (order.request.side == Side::buy) {
                exposure = or_huge(
                    add(exposure,
                        or_huge(multiply_round_up(reserved_qty(order), order.reserve_price))));
            }
        }
        total = or_huge(add(total, exposure));
        const bool is_bought = std::any_of(
            decision.plan.intents.begin(), decision.plan.intents.end(), [&](const Intent& intent) {
                return intent.side == Side::buy && intent.symbol == book.symbol;
            });
        if (is_bought &&
            exposure > or_huge(multiply_round_up(limits.max_symbol_exposure, kSlack))) {
            broken(
                "N3",
                decision.decision_id.text() + " brings " + std::string(book.symbol.text()) +
                    " to " + to_text(exposure) + ", the limit is " +
                    to_text(limits.max_symbol_exposure));
        }
    }
    if (total > or_huge(multiply_round_up(limits.max_portfolio_exposure, kSlack))) {
        broken(
            "N3",
            decision.decision_id.text() + " brings the account to " + to_text(total) +
                ", the limit is " + to_text(limits.max_portfolio_exposure));
    }
    check_losses(decision, now, *set);
}

void LoopInvariant::check_losses(
    const Decision& decision, const Held& now, const MarketSet& market) {
    const Account& account = *now.account;
    const std::vector<DayBucket>& days = account.money.days;
    if (!days.empty() && decision.executed_at && *decision.executed_at >= days.back().day) {
        const DayBucket& today = days.back();
        const Decimal lost =
            today.losses.is_negative() ? or_huge(negate(today.losses)) : today.losses;
        const Decimal spent = or_huge(add(lost, today.fees));
        if (or_huge(subtract(spent, today.gains)) >= account.limits.daily_loss_limit) {
            broken("N3", decision.decision_id.text() + " trades on after the daily loss limit");
        }
    }
    const auto equity = equity_of(account, now.books->books, market);
    const auto allowed = multiply_round_up(account.money.peak, account.limits.max_drawdown);
    if (!equity || or_huge(subtract(account.money.peak, *equity)) > or_huge(allowed)) {
        broken("N3", decision.decision_id.text() + " trades on below the drawdown limit");
    }
}

void LoopInvariant::check_money(const VenueAccount& account, const Held& held) {
    const auto problems = check_conservation(*held.account, held.books->books);
    if (!problems.empty()) {
        broken("money", "the books of " + account.tenant_id.text() + ": " + problems.front());
    }
}

// I4: until its fate is known and booked, what an order may still do stays reserved.
void LoopInvariant::check_reservations(const VenueAccount& account, const Held& held) {
    for (const OrderClientId& id : held.unsettled) {
        const bool is_held = std::any_of(
            held.books->books.begin(), held.books->books.end(), [&](const SymbolBook& book) {
                return book.find(id) != nullptr;
            });
        if (!is_held) {
            broken("I4", name_of(account, id) + " is not settled, yet nothing is reserved for it");
        }
    }
}

void LoopInvariant::on_submit(const VenueOrderRequest& request, const OrderEvidence* evidence) {
    ++counts_.orders;
    const std::string name = name_of(request.account, request.order_client_id);
    if (++sent_[{request.account, request.order_client_id}] > 1) {
        broken("I4", name + " was sent a second time");
    }
    if (evidence == nullptr) {
        broken("I3", name + " was sent, but no durable record of an execution names it");
        return;
    }
    if (!evidence->is_validated || !evidence->is_rehearsed) {
        broken(
            "I3",
            name + " was sent without a passed " +
                std::string(evidence->is_validated ? "dry run" : "validation"));
    }
    if (evidence->decision_id.empty() || evidence->tick_id.empty()) {
        broken("N5", name + " was sent without decision_id and tick_id on record");
    }
    Intent intent;
    intent.intent_id = evidence->intent_id;
    intent.symbol = request.symbol;
    intent.side = request.side;
    intent.order_type = request.order_type;
    intent.qty = request.qty;
    intent.limit_price = request.limit_price;
    if (derive_order_client_id(evidence->decision_id, intent) != request.order_client_id) {
        broken("order_id", name + " is not the order that was decided on");
    }
}

}  // namespace interlock::sim
