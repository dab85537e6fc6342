// Reconciliation in five passes: trades, orders, single answers, what is still open, balances. Each
// pass works on the next state, so balances are compared after every trade we know of is booked.
#include "account/rules/reconcile.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "account/rules/exact.h"
#include "account/rules/order_form.h"
#include "account/rules/postings.h"
#include "account/rules/verification.h"

namespace interlock {
namespace {

// What two balances may differ by, as a share.
constexpr Decimal kBalanceShare = Decimal::from_units(100'000'000'000'000);
// The smallest amount venues count a quote asset in.
constexpr Decimal kQuoteStep = Decimal::from_units(10'000'000'000);

// An order leaves within 2 s of its commit or not at all, and has its answer, or counts as timed
// out, 10 s later. Until then it is under way, not uncertain.
constexpr Duration kSubmitWindow = Duration::of_seconds(12);

class Reconciler {
public:
    explicit Reconciler(ReconcileInput&& input) : in_(std::move(input)) {
        out_.account = std::move(in_.account);
        out_.books = std::move(in_.books);
        for (const OrderRecord& order : in_.settled) {
            orders_[order.id()] = order;
        }
        for (const SymbolBook& book : out_.books) {
            for (const OrderRecord& order : book.open) {
                orders_[order.id()] = order;
            }
        }
    }

    Result<Reconciliation> run() {
        book_trades();
        take_open_orders();
        take_answers();
        TRY(put_back());
        look_for_gaps();
        reserve_foreign();
        // A shadow account owns nothing at a venue, so there is nothing to compare.
        const bool owns = out_.account.key.mode != TradeMode::shadow;
        // Trades were booked that this report does not know of: its balances are older than our
        // books, and a difference would say nothing.
        const bool is_older = in_.report.fills_cursor < out_.account.fills_cursor;
        if (owns && !is_older && out_.to_query.empty() && !in_.report.has_more_fills) {
            compare_balances();
        }
        move_cursor();
        out_.is_clean = out_.drift.empty() && out_.uncertain.empty() && out_.to_query.empty() &&
                        !in_.report.has_more_fills && !is_older;
        return std::move(out_);
    }

private:
    OrderRecord* find_order(const OrderClientId& id) {
        const auto found = orders_.find(id);
        return found == orders_.end() ? nullptr : &found->second;
    }

    void note_drift(std::string word, std::string subject, std::string detail = {}) {
        if (word == "duplicate_live_order") {
            out_.duplicate_seen = true;
        }
        Finding finding{std::move(word), std::move(subject), std::move(detail)};
        if (std::find(out_.drift.begin(), out_.drift.end(), finding) == out_.drift.end()) {
            out_.drift.push_back(std::move(finding));
        }
    }

    // By time, so that one report gives one result however it was put together.
    std::vector<VenueFill> trades_in_order() const {
        std::vector<VenueFill> trades = in_.report.fills;
        for (const OrderAnswer& answer : in_.answers) {
            if (answer.is_reachable) {
                trades.insert(trades.end(), answer.fills.begin(), answer.fills.end());
            }
        }
        std::stable_sort(trades.begin(), trades.end(), [](const VenueFill& a, const VenueFill& b) {
            return std::tie(a.at, a.symbol, a.trade_id, a.order_client_id) <
                   std::tie(b.at, b.symbol, b.trade_id, b.order_client_id);
        });
        trades.erase(std::unique(trades.begin(), trades.end()), trades.end());
        return trades;
    }

    void book_trades() {
        for (const VenueFill& fill : trades_in_order()) {
            OrderRecord* order = find_order(fill.order_client_id);
            if (order != nullptr) {
                book_trade(*order, fill);
            } else if (has_our_form(fill.order_client_id)) {
                note_drift(
                    "unexpected_order",
                    fill.order_client_id.text(),
                    "a trade of an order "
                    "we never wrote");
            }
        }
    }

    void book_trade(OrderRecord& order, const VenueFill& fill) {
        if (has_trade(order, fill.trade_id)) {
            return;
        }
        SymbolBook* book = find_book(out_.books, order.symbol());
        if (book == nullptr) {
            note_failed(fill, "the account has no book of this market");
            return;
        }
        if (const auto rolled = roll_to(out_.account, in_.now); !rolled) {
            note_failed(fill, rolled.error().message);
            return;
        }
        const FillInput input = priced_fill(fill, out_.account, out_.books, in_.market);
        auto applied = apply_fill({.account = out_.account, .book = *book, .order = order}, input);
        if (!applied) {
            note_failed(fill, applied.error().message);
            return;
        }
        for (const std::string& word : applied->drift) {
            note_drift(word, order.id().text());
        }
        changed_.insert(order.id());
        out_.fills.push_back(booked_trade(input, *book, *applied));
    }

    void note_failed(const VenueFill& fill, const std::string& why) {
        has_failed_trade_ = true;
        note_drift(
            "position_mismatch",
            std::string(fill.symbol.text()),
            "trade " + std::to_string(fill.trade_id) + " cannot be booked: " + why);
    }

    void step(OrderRecord& order, const OrderEvent& event) {
        OrderStep next = step_order(std::move(order), event, in_.now);
        order = std::move(next.order);
        for (const std::string& word : next.drift) {
            note_drift(word, order.id().text());
        }
        if (next.changed) {
            changed_.insert(order.id());
        }
    }

    void take_shown(OrderRecord& order, const VenueOrder& seen) {
        // An end that was judged when it happened is not judged again.
        if (!is_settled(order) || is_live(seen.state)) {
            for (const std::string& word : compare_order(order, seen)) {
                note_drift(word, order.id().text());
            }
        }
        step(order, OrderReported{seen});
    }

    void take_open_orders() {
        for (const VenueOrder& seen : in_.report.open_orders) {
            OrderRecord* order = find_order(seen.order_client_id);
            if (order == nullptr) {
                out_.foreign_orders.push_back(seen);
                if (has_our_form(seen.order_client_id)) {
                    note_drift("unexpected_order", seen.order_client_id.text());
                }
                continue;
            }
            if (!shown_open_.insert(order->id()).second) {
                note_drift("duplicate_live_order", order->id().text());
                continue;
            }
            take_shown(*order, seen);
        }
    }

    void take_answers() {
        for (const OrderAnswer& answer : in_.answers) {
            OrderRecord* order = find_order(answer.order_client_id);
            if (order == nullptr || !answer.is_reachable) {
                continue;
            }
            answered_.insert(order->id());
            if (answer.order) {
                take_shown(*order, *answer.order);
            } else if (!shown_open_.contains(order->id())) {
                take_absence(*order, answer);
            }
        }
    }

    void take_absence(OrderRecord& order, const OrderAnswer& answer) {
        if (!is_live(order.state)) {
            return;
        }
        step(order, OrderAbsent{});
        const ArrivalFacts facts{
            .now = in_.now,
            .in_open_orders = false,
            .has_trades = has_unbooked(order, answer) || in_.report.has_more_fills};
        if (!is_uncertain(order)) {
            note_drift("missing_at_exchange", order.id().text());
        }
        if (has_never_arrived(order, facts)) {
            step(order, OrderNeverArrived{});
            out_.never_arrived.push_back(order.id());
        } else if (has_vanished(order, facts)) {
            step(order, OrderVanished{});
        }
    }

    bool has_unbooked(const OrderRecord& order, const OrderAnswer& answer) const {
        const auto is_unbooked = [&](const VenueFill& fill) {
            return fill.order_client_id == order.id() && !has_trade(order, fill.trade_id);
        };
        return std::any_of(answer.fills.begin(), answer.fills.end(), is_unbooked) ||
               std::any_of(in_.report.fills.begin(), in_.report.fills.end(), is_unbooked);
    }

    Result<void> put_back() {
        for (const OrderClientId& id : changed_) {
            OrderRecord& order = orders_[id];
            if (SymbolBook* book = find_book(out_.books, order.symbol())) {
                TRY(release_order(out_.account, *book, order));
            }
            out_.orders.push_back(order);
        }
        return {};
    }

    void look_for_gaps() {
        for (const SymbolBook& book : out_.books) {
            for (const OrderRecord& order : book.open) {
                const std::string why = gap_of(order);
                if (why.empty()) {
                    continue;
                }
                out_.to_query.push_back(order.id());
                if (!is_under_way(order)) {
                    out_.uncertain.push_back({why, order.id().text(), {}});
                }
            }
        }
        std::sort(out_.to_query.begin(), out_.to_query.end());
    }

    // Written ahead after the report was asked for, or not at the venue yet: its answer is still to
    // come, and that the report does not show it says nothing.
    bool is_under_way(const OrderRecord& order) const {
        return order.state == OrderState::submitting && in_.now - order.created_at < kSubmitWindow;
    }

    std::string gap_of(const OrderRecord& order) const {
        if (order.reported_qty > order.filled_qty) {
            return "fills_missing";
        }
        if (is_uncertain(order)) {
            return answered_.contains(order.id()) ? "not_found_yet" : "outcome_unknown";
        }
        if (!shown_open_.contains(order.id()) && !answered_.contains(order.id())) {
            return "not_in_open_orders";
        }
        return {};
    }

    // Base and quote. Of a market we know nothing of, by its name: our cash may stand in an order
    // there all the same.
    std::optional<std::pair<Asset, Asset>> assets_of(const Symbol& symbol) const {
        if (const MarketFacts* market = in_.market.find(symbol)) {
            return std::pair(market->rules.base, market->rules.quote);
        }
        const Asset& quote = out_.account.quote;
        const std::string_view text = symbol.text();
        if (quote.text().empty() || !text.ends_with(quote.text())) {
            return std::nullopt;
        }
        const auto base = Asset::parse(text.substr(0, text.size() - quote.text().size()));
        return base ? std::optional(std::pair(*base, quote)) : std::nullopt;
    }

    void reserve_foreign() {
        std::map<Asset, Exact> locked;
        for (const VenueOrder& order : out_.foreign_orders) {
            const auto assets = assets_of(order.symbol);
            if (!assets) {
                continue;  // Neither side is ours to trade with.
            }
            const Exact left = Exact(order.qty) - order.filled_qty;
            if (order.side == Side::sell) {
                locked[assets->first] += left;
            } else {
                locked[assets->second] += left.times_up(order.limit_price.value_or(Decimal()));
            }
        }
        std::map<Asset, Decimal> amounts;
        for (const auto& [asset, sum] : locked) {
            if (amounts.size() < kAssetsMax) {
                amounts[asset] = sum.result().value_or(Decimal());
            }
        }
        if (amounts != out_.account.foreign_locked) {
            out_.account.foreign_locked = std::move(amounts);
            out_.account.version += 1;
        }
    }

    ExternalFlow* pending(const Asset& asset) {
        auto& flows = out_.account.external_flows;
        const auto found = std::find_if(
            flows.begin(), flows.end(), [&](const ExternalFlow& f) { return f.asset == asset; });
        return found == flows.end() ? nullptr : &*found;
    }

    Decimal tolerance(const Asset& asset, Decimal ours, Decimal venue) const {
        Decimal step = asset == out_.account.quote ? kQuoteStep : Decimal();
        for (const MarketFacts& facts : in_.market.markets) {
            if (facts.rules.base == asset) {
                step = std::max(step, facts.rules.step_size);
            }
        }
        const auto share = multiply_round_down(std::max(ours, venue), kBalanceShare);
        return std::max(step, share.value_or(Decimal()));
    }

    void compare_balances() {
        std::map<Asset, Exact> venue;
        for (const auto& [asset, amount] : out_.account.money.holdings) {
            venue[asset] = Exact();
        }
        for (const VenueBalance& balance : in_.report.balances) {
            venue[balance.asset] += balance.free;
            venue[balance.asset] += balance.locked;
        }
        for (const auto& [asset, sum] : venue) {
            compare_balance(asset, sum);
        }
    }

    void compare_balance(const Asset& asset, Exact venue_sum) {
        const ExternalFlow* flow = pending(asset);
        const auto venue = venue_sum.result();
        const auto ours =
            (Exact(held(out_.account.money, asset)) + (flow == nullptr ? Decimal() : flow->amount))
                .result();
        if (!venue || !ours) {
            note_drift("balance_mismatch", std::string(asset.text()), "a sum overflowed");
            return;
        }
        const auto gap = subtract(std::max(*venue, *ours), std::min(*venue, *ours));
        if (gap && *gap <= tolerance(asset, *ours, *venue)) {
            return;
        }
        out_.balance_mismatches.push_back({asset, *ours, *venue});
        if (out_.account.key.mode == TradeMode::live) {
            note_flow(asset, Exact(*venue) - held(out_.account.money, asset));
            return;
        }
        const auto& books = out_.books;
        const auto book = std::find_if(
            books.begin(), books.end(), [&](const SymbolBook& b) { return b.base == asset; });
        const std::string detail = "ours " + to_text(*ours) + ", venue " + to_text(*venue);
        if (book != books.end()) {
            note_drift("position_mismatch", std::string(book->symbol.text()), detail);
        } else {
            note_drift("balance_mismatch", std::string(asset.text()), detail);
        }
    }

    // The whole of what the venue holds beyond our books, as one flow per asset.
    void note_flow(const Asset& asset, Exact difference) {
        const auto amount = difference.result();
        auto& flows = out_.account.external_flows;
        ExternalFlow* flow = pending(asset);
        if (!amount || (flow == nullptr && flows.size() >= kExternalFlowsMax)) {
            note_drift("balance_mismatch", std::string(asset.text()), "too many external flows");
            return;
        }
        if (flow == nullptr) {
            flows.push_back({asset, {}, in_.now, in_.now});
            flow = &flows.back();
        }
        flow->amount = *amount;
        flow->last_seen_at = in_.now;
        out_.external_flows.push_back(*flow);
        std::erase_if(flows, [](const ExternalFlow& f) { return f.amount.is_zero(); });
        out_.account.version += 1;
    }

    void move_cursor() {
        // A trade that could not be booked must be told again.
        if (!has_failed_trade_ && in_.report.fills_cursor > out_.account.fills_cursor) {
            out_.account.fills_cursor = in_.report.fills_cursor;
            out_.account.version += 1;
        }
    }

    ReconcileInput in_;
    Reconciliation out_;
    std::map<OrderClientId, OrderRecord> orders_;  // Every order of ours that is spoken of.
    std::set<OrderClientId> changed_;
    std::set<OrderClientId> shown_open_;
    std::set<OrderClientId> answered_;
    bool has_failed_trade_ = false;
};

}  // namespace

std::string to_text(const Finding& finding) {
    return finding.word + ":" + finding.subject;
}

Result<Reconciliation> reconcile(ReconcileInput input) {
    return Reconciler(std::move(input)).run();
}

std::vector<OrderRecord> mark_interrupted(std::vector<SymbolBook>& books, Timestamp at) {
    std::vector<OrderRecord> interrupted;
    for (SymbolBook& book : books) {
        for (OrderRecord& order : book.open) {
            if (order.state == OrderState::submitting) {
                order = step_order(std::move(order), OrderOutcomeUnknown{}, at).order;
                interrupted.push_back(order);
            }
        }
    }
    return interrupted;
}

std::vector<std::string> startup_problems(
    const Account& account, const std::vector<SymbolBook>& books) {
    std::vector<std::string> problems = check_conservation(account, books);
    for (const SymbolBook& book : books) {
        for (const OrderRecord& order : book.open) {
            if (order.state == OrderState::submitting) {
                problems.push_back("order " + order.id().text() + " is still submitting");
            }
        }
    }
    return problems;
}

}  // namespace interlock
