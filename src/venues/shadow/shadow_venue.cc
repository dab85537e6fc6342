#include "venues/shadow/shadow_venue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/errors.h"
#include "codec/field_reader.h"
#include "venues/paper/paper_filters.h"

namespace interlock {
namespace {

enum class Line { submitted, reached, ended };
constexpr std::array<std::string_view, 3> kLines{
    "shadow_submitted", "shadow_reached", "shadow_ended"};

Json price_json(const std::optional<Decimal>& price) {
    return price ? Json(to_text(*price)) : Json(nullptr);
}

Json line_of(Line type, const ShadowOutcome& outcome) {
    Json line = encode(outcome);
    line.set("type", kLines[static_cast<std::size_t>(type)]);
    return line;
}

Timestamp cut_to_milliseconds(Timestamp at) {
    return {at.microseconds - at.microseconds % 1000};
}

// The price at which the market would fill the order now; nothing when it does not reach it.
std::optional<Decimal> price_reached(
    const VenueOrder& order, const MarketFacts& market, bool is_new) {
    const auto& far = order.side == Side::buy ? market.best_ask : market.best_bid;
    if (!far || is_halted(market)) {
        return std::nullopt;
    }
    if (!order.limit_price) {
        return far;
    }
    const bool reached =
        order.side == Side::buy ? *far <= *order.limit_price : *far >= *order.limit_price;
    if (!reached) {
        return std::nullopt;
    }
    // A taker gets the quote; what rested gets its own price.
    return is_new ? far : order.limit_price;
}

Result<ShadowOutcome> read_outcome(const Json& json) {
    FieldReader in(json);
    ShadowOutcome outcome;
    const Json account = in.required<Json>("account");
    const Json order = in.required<Json>("order");
    outcome.submitted_at = in.required<Timestamp>("submitted_at");
    outcome.bid_then = in.required_nullable<Decimal>("bid_then");
    outcome.ask_then = in.required_nullable<Decimal>("ask_then");
    outcome.would_fill_price = in.required_nullable<Decimal>("would_fill_price");
    outcome.would_fill_at = in.required_nullable<Timestamp>("would_fill_at");
    TRY_ASSIGN(outcome, in.finish(std::move(outcome)));
    TRY_ASSIGN(outcome.account, decode_venue_account(account));
    TRY_ASSIGN(outcome.order, decode_venue_order(order));
    return outcome;
}

}  // namespace

Json encode(const ShadowOutcome& outcome) {
    return Json::object({
        {"account", encode(outcome.account)},
        {"order", encode(outcome.order)},
        {"submitted_at", to_text(outcome.submitted_at)},
        {"bid_then", price_json(outcome.bid_then)},
        {"ask_then", price_json(outcome.ask_then)},
        {"would_fill_price", price_json(outcome.would_fill_price)},
        {"would_fill_at",
         outcome.would_fill_at ? Json(to_text(*outcome.would_fill_at)) : Json(nullptr)},
    });
}

Result<std::unique_ptr<ShadowVenue>> ShadowVenue::open(
    const MarketFeed& feed, Clock& clock, ShadowVenueOptions options) {
    std::unique_ptr<ShadowVenue> venue(new ShadowVenue(feed, clock, std::move(options)));
    if (!venue->options_.journal_path.empty()) {
        TRY_ASSIGN(
            venue->file_, JournalFile::open(venue->options_.journal_path, [&](const Json& line) {
                return venue->take_line(line);
            }));
    }
    return venue;
}

// Each line holds the whole outcome as it stood after the change.
Result<void> ShadowVenue::take_line(const Json& line) {
    TRY_ASSIGN(ShadowOutcome outcome, read_outcome(line));
    FieldReader in(line);
    const auto type = static_cast<Line>(in.required_word_index("type", kLines));
    TRY(in.finish(true));
    if (type == Line::submitted) {
        std::ignore = make_room();
        outcomes_.push_back(std::move(outcome));
        return {};
    }
    ShadowOutcome* known =
        find(outcome.account, outcome.order.symbol, outcome.order.order_client_id);
    if (known != nullptr) {
        *known = std::move(outcome);
    }
    return {};
}

ShadowOutcome* ShadowVenue::find(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    // The newest first: an id may have been used again.
    const auto found =
        std::find_if(outcomes_.rbegin(), outcomes_.rend(), [&](const ShadowOutcome& outcome) {
            return outcome.order.order_client_id == id && outcome.order.symbol == symbol &&
                   outcome.account == account;
        });
    return found == outcomes_.rend() ? nullptr : &*found;
}

bool ShadowVenue::make_room() {
    if (outcomes_.size() < options_.orders_max) {
        return true;
    }
    const auto ended =
        std::find_if(outcomes_.begin(), outcomes_.end(), [](const ShadowOutcome& outcome) {
            return !is_live(outcome.order.state);
        });
    if (ended == outcomes_.end()) {
        return false;
    }
    outcomes_.erase(ended);
    return true;
}

Result<void> ShadowVenue::commit() {
    if (file_ == nullptr) {
        batch_.clear();
        return {};
    }
    auto written = file_->append(batch_);
    if (written && file_->size() > std::max(options_.journal_bytes_max, 2 * compacted_size_)) {
        for (const ShadowOutcome& outcome : outcomes_) {
            batch_.push_back(line_of(Line::submitted, outcome));
        }
        written = file_->replace(batch_);
        compacted_size_ = file_->size();
    }
    if (!written) {
        return fail(errors::venue_timeout, written.error().message);
    }
    if (options_.sync) {
        if (const auto synced = file_->sync(file_->size()); !synced) {
            return fail(errors::venue_timeout, synced.error().message);
        }
    }
    return {};
}

Result<void> ShadowVenue::observe() {
    const std::vector<Symbol> symbols = feed_.symbols();
    const MarketSet markets = feed_.facts(symbols);
    const std::lock_guard lock(mutex_);
    for (ShadowOutcome& outcome : outcomes_) {
        if (!is_live(outcome.order.state) || outcome.would_fill_at) {
            continue;
        }
        const MarketFacts* market = markets.find(outcome.order.symbol);
        if (market == nullptr) {
            continue;
        }
        if (const auto price = price_reached(outcome.order, *market, false)) {
            outcome.would_fill_price = price;
            outcome.would_fill_at = cut_to_milliseconds(clock_.now());
            batch_.push_back(line_of(Line::reached, outcome));
        }
    }
    return commit();
}

std::vector<ShadowOutcome> ShadowVenue::comparison(
    const VenueAccount& account, Timestamp day) const {
    const std::lock_guard lock(mutex_);
    std::vector<ShadowOutcome> outcomes;
    for (const ShadowOutcome& outcome : outcomes_) {
        if (outcome.account == account &&
            utc_day_start(outcome.submitted_at) == utc_day_start(day)) {
            outcomes.push_back(outcome);
        }
    }
    return outcomes;
}

Result<VenueAck> ShadowVenue::submit(const VenueOrderRequest& request) {
    const MarketSet markets = feed_.facts({&request.symbol, 1});
    const std::lock_guard lock(mutex_);
    const MarketFacts* market = markets.find(request.symbol);
    if (market == nullptr) {
        return reject(
            "unknown_symbol", "No market " + std::string(request.symbol.text()) + " here.");
    }
    const ShadowOutcome* open = find(request.account, request.symbol, request.order_client_id);
    if (open != nullptr && is_live(open->order.state)) {
        return reject(
            "duplicate_order", "An order " + request.order_client_id.text() + " is open.");
    }
    if (!make_room()) {
        return reject("filter_max_orders", "As many shadow orders are open as are kept.");
    }
    ShadowOutcome outcome;
    outcome.account = request.account;
    outcome.submitted_at = cut_to_milliseconds(clock_.now());
    outcome.bid_then = market->best_bid;
    outcome.ask_then = market->best_ask;
    VenueOrder& order = outcome.order;
    order.order_client_id = request.order_client_id;
    order.symbol = request.symbol;
    order.side = request.side;
    order.order_type = request.order_type;
    order.time_in_force = request.time_in_force;
    order.post_only = request.post_only;
    order.qty = request.qty;
    order.limit_price = request.limit_price;
    order.updated_at = outcome.submitted_at;
    if (const auto price = price_reached(order, *market, true)) {
        if (request.post_only) {
            return reject("would_take", "The order would trade at once, and it may not.");
        }
        outcome.would_fill_price = price;
        outcome.would_fill_at = outcome.submitted_at;
    }
    const bool may_rest =
        request.order_type == OrderType::limit && request.time_in_force == TimeInForce::gtc;
    if (!may_rest) {
        order.state = OrderState::canceled;
        order.cancel_reason = "shadow";
    }
    batch_.push_back(line_of(Line::submitted, outcome));
    outcomes_.push_back(outcome);
    TRY(commit());
    return VenueAck{outcome.order, {}};
}

void ShadowVenue::end(ShadowOutcome& outcome, const std::string& reason) {
    outcome.order.state = OrderState::canceled;
    outcome.order.cancel_reason = reason;
    outcome.order.updated_at = cut_to_milliseconds(clock_.now());
    batch_.push_back(line_of(Line::ended, outcome));
}

Result<VenueOrder> ShadowVenue::cancel(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    const std::lock_guard lock(mutex_);
    ShadowOutcome* outcome = find(account, symbol, id);
    if (outcome == nullptr || !is_live(outcome->order.state)) {
        return reject("unknown_order", "No order " + id.text() + " is open here.");
    }
    end(*outcome, "user");
    TRY(commit());
    return outcome->order;
}

Result<std::vector<VenueOrder>> ShadowVenue::cancel_all(const VenueAccount& account) {
    const std::lock_guard lock(mutex_);
    for (ShadowOutcome& outcome : outcomes_) {
        if (outcome.account == account && is_live(outcome.order.state)) {
            end(outcome, "user");
        }
    }
    TRY(commit());
    return std::vector<VenueOrder>{};
}

Result<std::optional<VenueOrder>> ShadowVenue::find_order(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    const std::lock_guard lock(mutex_);
    const ShadowOutcome* outcome = find(account, symbol, id);
    return outcome == nullptr ? std::nullopt : std::optional(outcome->order);
}

Result<VenueReport> ShadowVenue::report(const VenueAccount& account, std::int64_t fills_cursor) {
    const std::lock_guard lock(mutex_);
    VenueReport report;
    for (const ShadowOutcome& outcome : outcomes_) {
        if (outcome.account == account && is_live(outcome.order.state)) {
            report.open_orders.push_back(outcome.order);
        }
    }
    report.fills_cursor = fills_cursor;
    return report;
}

Result<std::vector<VenueFill>> ShadowVenue::fills_of(
    const VenueAccount&, const Symbol&, const OrderClientId&) {
    return std::vector<VenueFill>{};
}

Result<VenueHistory> ShadowVenue::history(const VenueAccount& account) {
    const std::lock_guard lock(mutex_);
    VenueHistory history;
    for (const bool live : {false, true}) {
        for (const ShadowOutcome& outcome : outcomes_) {
            if (outcome.account == account && is_live(outcome.order.state) == live) {
                history.orders.push_back(outcome.order);
            }
        }
    }
    history.is_whole = outcomes_.size() < options_.orders_max;
    return history;
}

Result<std::int64_t> ShadowVenue::clock_skew_ms() {
    return 0;
}

}  // namespace interlock
