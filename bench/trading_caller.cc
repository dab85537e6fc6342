#include "bench/trading_caller.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, kTradeSteps> kTools{
    "py_get_market_snapshot",
    "py_validate_plan",
    "py_dry_run_plan",
    "py_execute_plan",
    "py_verify_execution"};
constexpr std::array<TradeStep, kTradeSteps> kNext{
    TradeStep::validate,
    TradeStep::dry_run,
    TradeStep::execute,
    TradeStep::verify,
    TradeStep::validate};

constexpr std::int64_t kSizesMany = 300;
constexpr std::int64_t kSmallestSize = 200;  // In hundred-thousandths: some 100 USDT.
// What the fee takes of what is bought; so much less is sold.
constexpr std::int64_t kFeeSteps = 1;
// How far beyond the last price the limit lies: it is filled at once though the market moves, and
// stays within the collar of 50.
constexpr std::int64_t kReachBps = 20;

// What stands behind `"key":"` first; nothing when it does not.
std::optional<std::string_view> text_after(std::string_view answer, std::string_view key) {
    const std::string mark = fmt::format("\"{}\":\"", key);
    const std::size_t at = answer.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    answer.remove_prefix(at + mark.size());
    return answer.substr(0, answer.find('"'));
}

bool has(std::string_view answer, std::string_view word) {
    return answer.find(word) != std::string_view::npos;
}

bool is_as_needed(TradeStep step, std::string_view answer) {
    switch (step) {
        case TradeStep::look:
            return has(answer, R"("halted":false)");
        case TradeStep::validate:
            return has(answer, R"("validation":{"pass":true)");
        case TradeStep::dry_run:
            return has(answer, R"("dry_run":{"pass":true)");
        case TradeStep::execute:
            return has(answer, R"("submit_status":"acked")");
        case TradeStep::verify:
            return has(answer, R"("overall":"matched")") &&
                   has(answer, R"("final_state":"filled")");
    }
    return false;
}

}  // namespace

std::string_view tool_of(TradeStep step) {
    return kTools[static_cast<std::size_t>(step)];
}

std::string TradingCaller::head() {
    return fmt::format(
        R"({{"decision_id":"{}","tick_id":"tick_{}","idempotency_key":"{}")",
        decision_id_,
        paths_,
        ids_.new_id("idem"));
}

void TradingCaller::begin_path() {
    decision_id_ = ids_.new_id("dec");
    const bool buys = paths_ % 2 == 0;
    const std::int64_t bought = kSmallestSize + (first_size_ + paths_ / 2) % kSizesMany;
    const std::int64_t reach = price_ * kReachBps / 10'000;
    plain_ = fmt::format(
        R"("symbol":"BTCUSDT","side":"{}","order_type":"limit","qty":"0.{:05}",)"
        R"("limit_price":"{}","time_in_force":"IOC")",
        buys ? "buy" : "sell",
        buys ? bought : bought - kFeeSteps,
        buys ? price_ + reach : price_ - reach);
}

std::string TradingCaller::next() {
    switch (step_) {
        case TradeStep::look:
            decision_id_ = ids_.new_id("dec");
            return head() + R"(,"symbols":["BTCUSDT"],"max_staleness_sec":60})";
        case TradeStep::validate:
            begin_path();
            return head() + fmt::format(
                                R"(,"plan":{{"intents":[{{{},"strategy_id":"external",)"
                                R"("expected_edge_bps":"100"}}],"reason":"bench"}}}})",
                                plain_);
        case TradeStep::dry_run:
            return head() + fmt::format(
                                R"(,"plan":{{"intents":[{{{}}}]}},)"
                                R"("assumptions":{{"slippage_bps":25,"fee_bps":20}}}})",
                                plain_);
        case TradeStep::execute:
            return head() +
                   fmt::format(
                       R"(,"execution_mode":"paper","approved_intents":[{{{},"intent_id":"{}",)"
                       R"("order_client_id":"{}"}}]}})",
                       plain_,
                       intent_id_,
                       order_client_id_);
        case TradeStep::verify:
            break;
    }
    return head() + fmt::format(R"(,"order_client_ids":["{}"]}})", order_client_id_);
}

Result<void> TradingCaller::take(std::string_view answer) {
    const auto refuse = [&] {
        return fail(
            errors::unavailable,
            std::string(tool_of(step_)) + " was answered " + std::string(answer.substr(0, 600)));
    };
    if (!is_as_needed(step_, answer)) {
        return refuse();
    }
    if (step_ == TradeStep::dry_run) {
        const auto intent_id = text_after(answer, "intent_id");
        const auto order_client_id = text_after(answer, "order_client_id");
        if (!intent_id || !order_client_id) {
            return refuse();
        }
        intent_id_ = *intent_id;
        order_client_id_ = *order_client_id;
    }
    if (step_ == TradeStep::look || step_ == TradeStep::verify) {
        const auto price =
            text_after(answer, step_ == TradeStep::look ? "best_ask" : "avg_fill_price");
        // Whole units are exact enough for a limit that is not to be met.
        if (!price || std::from_chars(price->data(), price->data() + price->size(), price_).ec !=
                          std::errc()) {
            return refuse();
        }
    }
    paths_ += step_ == TradeStep::verify ? 1 : 0;
    step_ = kNext[static_cast<std::size_t>(step_)];
    return {};
}

}  // namespace interlock
