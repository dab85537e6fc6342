// agent-loop.md#verification in code. A comparison looks only at what the venue showed; what it did
// not show is uncertain until the proof of absence is complete.
#include "account/rules/verification.h"

#include <algorithm>
#include <array>

#include "account/rules/exact.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kOutcomes{"matched", "drift", "uncertain"};

// Compares totals rather than averages: no division, so no rounding decides.
bool is_worse(Side side, Decimal filled_quote, Decimal filled_qty, Decimal bound) {
    auto at_bound = multiply_half_even(filled_qty, bound);
    if (!at_bound) {
        return true;
    }
    return side == Side::buy ? filled_quote > *at_bound : filled_quote < *at_bound;
}

bool is_end_allowed(const OrderRecord& order, const VenueOrder& seen) {
    if (seen.state != OrderState::canceled) {
        return true;
    }
    switch (order.request.time_in_force) {
        case TimeInForce::gtc:
            // A market order's rest is cancelled by the venue, whatever its time in force says.
            return order.cancel_requested || order.request.order_type == OrderType::market;
        case TimeInForce::ioc:
            return true;
        case TimeInForce::fok:
            return seen.filled_qty.is_zero();
    }
    return false;
}

std::optional<Decimal> average_of(const OrderRecord& order) {
    auto average = divide_half_even(order.filled_quote, order.filled_qty);
    return average ? std::optional(*average) : std::nullopt;
}

// What is still open about one order; empty when nothing is.
std::string why_uncertain(const OrderRecord& order, const OrderAnswer* answer) {
    if (order.request.account.mode == TradeMode::shadow) {
        return {};
    }
    if (is_uncertain(order)) {
        if (answer != nullptr && !answer->is_reachable) {
            return "venue_unreachable";
        }
        return answer == nullptr ? "outcome_unknown" : "not_found_yet";
    }
    if (is_settled(order)) {
        return {};
    }
    if (answer != nullptr && !answer->is_reachable) {
        return "venue_unreachable";
    }
    if (!is_live(order.state) || order.reported_qty > order.filled_qty) {
        return "fills_missing";
    }
    return {};
}

std::vector<std::string> drift_of(const OrderRecord& order, const OrderAnswer* answer) {
    const bool is_gone =
        order.state == OrderState::never_arrived || order.state == OrderState::rejected;
    if (answer == nullptr || !answer->is_reachable ||
        order.request.account.mode == TradeMode::shadow) {
        return {};
    }
    if (!answer->order) {
        // Rejected on both sides is a match; a live order the venue does not know is not.
        return is_gone || is_uncertain(order) ? std::vector<std::string>{}
                                              : std::vector<std::string>{"missing_at_exchange"};
    }
    std::vector<std::string> words = compare_order(order, *answer->order);
    if (is_gone && answer->order->state != OrderState::rejected) {
        words.emplace_back("unexpected_order");
    }
    return words;
}

const OrderAnswer* find_answer(const std::vector<OrderAnswer>& answers, const OrderClientId& id) {
    const auto found = std::find_if(answers.begin(), answers.end(), [&](const OrderAnswer& answer) {
        return answer.order_client_id == id;
    });
    return found == answers.end() ? nullptr : &*found;
}

bool is_absence_proven(const OrderRecord& order, const ArrivalFacts& facts) {
    const ArrivalProof& proof = order.proof;
    const Timestamp sent_at = order.submitted_at.value_or(order.created_at);
    return !facts.in_open_orders && !facts.has_trades &&
           proof.absent_queries >= kAbsentQueriesNeeded && proof.last_absent_at &&
           *proof.last_absent_at - sent_at >= kArrivalGrace && facts.now >= *proof.last_absent_at;
}

}  // namespace

bool has_never_arrived(const OrderRecord& order, const ArrivalFacts& facts) {
    return is_uncertain(order) && order.filled_qty.is_zero() && order.reported_qty.is_zero() &&
           is_absence_proven(order, facts);
}

bool has_vanished(const OrderRecord& order, const ArrivalFacts& facts) {
    return is_live(order.state) && !is_uncertain(order) && is_absence_proven(order, facts);
}

std::string_view to_word(VerifyOutcome outcome) {
    return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::vector<std::string> compare_order(const OrderRecord& order, const VenueOrder& seen) {
    const VenueOrderRequest& asked = order.request;
    std::vector<std::string> words;
    const auto note = [&](bool differs, const char* word) {
        if (differs) {
            words.emplace_back(word);
        }
    };
    note(seen.symbol != asked.symbol, "field_mismatch:symbol");
    note(seen.side != asked.side, "field_mismatch:side");
    note(seen.order_type != asked.order_type, "field_mismatch:order_type");
    note(seen.qty != asked.qty, "field_mismatch:qty");
    note(seen.limit_price != asked.limit_price, "field_mismatch:limit_price");
    note(seen.filled_qty > asked.qty, "overfill");
    const Decimal bound = asked.limit_price.value_or(order.reserve_price);
    note(
        seen.filled_qty.is_positive() && bound.is_positive() &&
            is_worse(asked.side, seen.filled_quote, seen.filled_qty, bound),
        "price_worse_than_limit");
    note(!is_end_allowed(order, seen), "unexpected_cancel");
    return words;
}

Verification verify_orders(const VerifyInput& input) {
    Verification verification;
    const auto raise = [&](VerifyOutcome& outcome, VerifyOutcome to) {
        outcome = std::max(outcome, to);
    };
    for (const OrderRecord& order : input.orders) {
        const OrderAnswer* answer = find_answer(input.answers, order.id());
        VerifiedOrder verified{
            .order_client_id = order.id(),
            .exchange_order_id = order.exchange_order_id,
            .state = order.state,
            .fill_qty = order.filled_qty,
            .avg_fill_price = average_of(order),
            .outcome = VerifyOutcome::matched,
        };
        for (const std::string& word : drift_of(order, answer)) {
            raise(verified.outcome, VerifyOutcome::drift);
            verification.drift_reasons.push_back(word + ":" + order.id().text());
        }
        if (const std::string why = why_uncertain(order, answer); !why.empty()) {
            raise(verified.outcome, VerifyOutcome::uncertain);
            verification.uncertain_reasons.push_back(why + ":" + order.id().text());
        }
        if (order.request.account.mode == TradeMode::shadow) {
            verification.drift_reasons.push_back("shadow:" + order.id().text());
        }
        raise(verification.overall, verified.outcome);
        verification.orders.push_back(std::move(verified));
    }
    for (const Finding& finding : input.drift) {
        std::string reason = to_text(finding);
        auto& known = verification.drift_reasons;
        if (std::find(known.begin(), known.end(), reason) == known.end()) {
            known.push_back(std::move(reason));
        }
        raise(verification.overall, VerifyOutcome::drift);
    }
    return verification;
}

Json encode(const Verification& verification) {
    Json orders = Json::array();
    for (const VerifiedOrder& order : verification.orders) {
        orders.push(Json::object({
            {"order_client_id", order.order_client_id.text()},
            {"exchange_order_id",
             order.exchange_order_id.empty() ? Json() : Json(order.exchange_order_id)},
            {"final_state", to_final_word(order.state)},
            {"fill_qty", to_text(order.fill_qty)},
            {"avg_fill_price",
             order.avg_fill_price ? Json(to_text(*order.avg_fill_price)) : Json()},
        }));
    }
    return Json::object({
        {"overall", to_word(verification.overall)},
        {"orders", std::move(orders)},
        {"drift_reasons", json_list(verification.drift_reasons)},
        {"uncertain_reasons", json_list(verification.uncertain_reasons)},
    });
}

}  // namespace interlock
