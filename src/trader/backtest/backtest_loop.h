// One strategy in the agent loop, without ledger and store: the same facts, gates, dry run, orders
// and bookings as the server's, in the same order (trader/service, loop/service), against the
// paper exchange. Nothing here decides anything: it calls core and hands effects to the exchange
// once a tick's decisions are made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "account/rules/account.h"
#include "account/rules/facts.h"
#include "market/rules/candle_book.h"
#include "trader/rules/strategy.h"
#include "venues/paper/paper_exchange.h"
#include "venues/paper/paper_recorder.h"

namespace interlock {

// As the server's watch and ticker do it.
inline constexpr Duration kBacktestBeatEvery = Duration::of_seconds(5);
inline constexpr std::int64_t kBacktestErrorsInRowMax = 3;
// Fills, stops and errors that are kept one by one; all of them are counted.
inline constexpr std::size_t kBacktestStopsMax = 100;

struct BacktestFill {
    VenueFill fill;
    Decimal notional;
    Decimal fee_quote;
    Decimal realized;  // Sells: proceeds less cost, before this trade's fee.
};

struct BacktestStop {
    Timestamp at;
    std::string code;
    std::string detail;
};

struct BacktestCounts {
    std::int64_t ticks = 0;
    std::int64_t ticks_failed = 0;
    std::int64_t decisions = 0;  // Executed and refused ones.
    std::int64_t executed = 0;
    std::int64_t adjusted = 0;  // Executed in a smaller size than planned.
    std::int64_t refused = 0;   // By the gates or the dry run.
    std::int64_t orders = 0;    // Taken by the venue.
    std::int64_t cancels = 0;
    std::map<std::string, std::int64_t> refused_by;   // "gate:reason".
    std::map<std::string, std::int64_t> rejected_by;  // The venue's codes.
    std::map<std::string, std::int64_t> failed_by;    // Error codes of ticks.
};

class BacktestLoop final : private PaperRecorder {
public:
    struct Options {
        MarketRules rules;
        Decimal deposit;       // Quote.
        Decimal base_deposit;  // Base, valued at the first price.
        std::vector<LimitChange> limits;
        std::shared_ptr<const Strategy> strategy;
        std::string strategy_type;
        RiskPosture posture = RiskPosture::balanced;
    };
    // Opens the account at exchange and books at once; `price` values the base deposit. `exchange`
    // and `candles` outlive the loop.
    static Result<std::unique_ptr<BacktestLoop>> open(
        PaperExchange& exchange, const CandleBook& candles, Options options, Decimal price);
    ~BacktestLoop() override;
    BacktestLoop(const BacktestLoop&) = delete;
    BacktestLoop& operator=(const BacktestLoop&) = delete;

    // Books what the exchange filled since the last call.
    Result<void> take_fills();
    bool has_news() const { return !news_.empty(); }
    // Day, peak and risk tiers, as the server's beat does it.
    Result<void> beat(Timestamp now);
    // One tick of the strategy: look, plan, gate, rehearse, execute.
    Result<void> tick(Timestamp now);

    // Compares every book with the exchange's own; what differs, empty when nothing does.
    Result<std::vector<std::string>> reconcile_with_venue(Timestamp now) const;

    const Account& account() const { return account_; }
    const SymbolBook& book() const { return books_.front(); }
    bool is_flat() const { return book().position.is_zero() && book().open.empty(); }
    const BacktestCounts& counts() const { return counts_; }
    const std::vector<BacktestStop>& stops() const { return stops_; }
    std::int64_t stop_count() const { return stop_count_; }
    std::string last_error() const { return last_error_; }
    // What the strategy said of its latest step: "intent: reason" and its warnings.
    std::string last_word() const;
    Tier tier() const { return account_.tier.tier; }
    // Fills booked since they were last taken away.
    std::vector<BacktestFill> take_booked() { return std::exchange(booked_, {}); }
    bool has_booked() const { return !booked_.empty(); }
    // Held assets at the market's mid; nothing without one.
    std::optional<Decimal> equity() const;
    const MarketSet& market() const { return market_; }
    void look_at_market();

private:
    // What an acting tick may change, to be put back when it fails.
    struct Undo {
        Account account;
        std::vector<SymbolBook> books;
    };
    struct Effects {
        std::vector<OrderClientId> cancels;
        std::vector<OrderClientId> sends;
    };

    BacktestLoop(PaperExchange& exchange, const CandleBook& candles, Options options);
    void on_opened(const VenueAccount&, std::span<const VenueBalance>) override {}
    void on_accepted(const VenueAccount&, const VenueOrder&) override {}
    void on_filled(const VenueAccount&, const VenueFill& fill) override;
    void on_ended(const VenueAccount&, const VenueOrder&) override {}

    Result<void> gather(Timestamp now);
    Result<StrategyStep> step();
    Result<bool> run_part(PlanPart part, Effects& effects);
    Result<void> act(const StrategyStep& first, Effects& effects);
    Result<bool> rehearse(Plan& plan, const DecisionId& decision_id, bool& is_adjusted);
    Result<void> execute(const Plan& plan, const DecisionId& decision_id, Effects& effects);
    Result<void> run_effects(const Effects& effects);
    Result<void> send(const OrderClientId& id);
    Result<void> cancel(const OrderClientId& id);
    Result<void> book_fill(OrderRecord& order, const VenueFill& fill);
    Result<void> fail_tick(const Error& error, Timestamp now);
    void note_refused(const std::vector<std::string>& reasons, std::string_view prefix);
    SymbolBook& own_book() { return books_.front(); }
    DecisionId decision_id_of(PlanPart part) const;

    PaperExchange& exchange_;
    const CandleBook& candles_;
    Options options_;
    std::vector<Timeframe> timeframes_;
    std::optional<BandwidthWish> bandwidth_wish_;
    std::optional<Decimal> cost_qty_;
    StrategyId strategy_id_;
    Account account_;
    std::vector<SymbolBook> books_;  // Exactly one.
    MarketSet market_;
    StateFacts state_;
    MarketSignals signals_;
    std::vector<OwnOrder> own_orders_;
    std::optional<OwnTrades> trades_;
    StrategyStep stepped_;
    StrategyAssessment said_;
    Json memory_;
    TickId tick_id_;
    std::vector<VenueFill> news_;
    bool is_sending_ = false;
    std::vector<BacktestFill> booked_;
    BacktestCounts counts_;
    std::vector<BacktestStop> stops_;
    std::int64_t stop_count_ = 0;
    std::int64_t failed_in_row_ = 0;
    bool is_latched_ = false;
    std::string last_error_;
    // What the latest beat saw; a beat on the same is not repeated.
    std::int64_t beat_version_ = -1;
    Timestamp beat_day_;
};

}  // namespace interlock
