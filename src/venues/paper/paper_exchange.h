// The simulated exchange: accounts with balances, orders with ids, filters, fees and fills, trading
// with the liquidity of a market model (paper_book.h tells how an order meets it).
//
// Accounts never match each other. Nothing invents money: what an account holds changes by its
// fills and their fees alone. Memory is bounded: open orders per account and market by the market's
// rules, finished orders and fills per account by the options; the oldest go first.
//
// One thread at a time; paper_venue.h adds the lock, the journal and the faults. Times are kept to
// the millisecond, as exchanges tell them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "account/ports/venue_history.h"
#include "market/rules/candle_book.h"
#include "market/rules/market_stats.h"
#include "venues/paper/paper_account.h"
#include "venues/paper/paper_book.h"
#include "venues/paper/paper_recorder.h"

namespace interlock {

inline constexpr std::size_t kPaperAccountsMax = 10'000;
inline constexpr std::size_t kPaperAssetsMax = 64;
inline constexpr std::size_t kPaperFinishedOrdersMax = 10'000;  // An account.
inline constexpr std::size_t kPaperFillsMax = 100'000;          // An account.
inline constexpr std::size_t kPaperReportFillsMax = 1000;       // A report.
// Open orders of one account on one market, whatever the market's rules say.
inline constexpr std::size_t kPaperBookOrdersMax = 1000;
// A longer gap is jumped over: nothing is filled by what would have happened in it.
inline constexpr std::int64_t kPaperStepsPerAdvanceMax = 240;
// With this much of the last day's history a market counts as hydrated; halts may have cost some.
inline constexpr std::int64_t kPaperHydratedCandlesMin = 240;
// Candles over a longer jump are loaded anew instead of being continued.
inline constexpr std::int64_t kPaperCandleJumpMax =
    Duration::of_hours(4).microseconds / kMarketStep.microseconds;

struct PaperExchangeOptions {
    PaperFees fees = {};
    BookSelfTrade self_trade = BookSelfTrade::expire_taker;  // Never `none`.
    std::size_t accounts_max = kPaperAccountsMax;
    std::size_t finished_orders_max = kPaperFinishedOrdersMax;
    std::size_t fills_max = kPaperFillsMax;
};

class PaperExchange {
public:
    // `model` outlives the exchange. The market begins at `start`.
    static Result<std::unique_ptr<PaperExchange>> make(
        const MarketModel& model, const PaperExchangeOptions& options, Timestamp start);

    // Is told of every change; null for none.
    void set_recorder(PaperRecorder* recorder) { recorder_ = recorder; }

    // Moves market and time to `now`, filling what rests; a `now` in the past does nothing.
    void advance(Timestamp now);
    Timestamp now() const { return now_; }
    std::int64_t step() const { return step_; }

    // False when the account was there already; it is then left alone. All of it is free at first.
    Result<bool> open_account(const VenueAccount& account, std::span<const VenueBalance> balances);

    Result<VenueAck> submit(const VenueOrderRequest& request);
    Result<VenueOrder> cancel(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id);
    Result<void> cancel_all(const VenueAccount& account);
    Result<std::optional<VenueOrder>> find_order(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) const;
    // Fills made after `fills_until` are held back: a fault may want that.
    Result<VenueReport> report(
        const VenueAccount& account, std::int64_t fills_cursor, Timestamp fills_until) const;
    Result<std::vector<VenueFill>> fills_of(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) const;
    Result<VenueHistory> history(const VenueAccount& account) const;

    std::vector<Symbol> symbols() const;
    // With the depth of those in `deep`. `venue_ahead` is added to the times of the venue's own
    // clock.
    MarketSet facts(
        std::span<const Symbol> symbols, std::span<const Symbol> deep, Duration venue_ahead) const;
    // History is loaded for a market when it is first asked for; nothing is kept before.
    MarketSignals signals(const Symbol& symbol, std::span<const Timeframe> timeframes);
    std::vector<Candle> candles(const Symbol& symbol, Timeframe timeframe);
    std::optional<Decimal> bandwidth_quantile(const Symbol& symbol, const BandwidthWish& wish);
    const MarketView* view_of(const Symbol& symbol) const;

    // For whoever brings the market himself instead of a model's steps (backtest_run.h): write the
    // next moment into the view, then let it happen. Seconds are noted as they pass; facts() tells
    // their statistics once they were renewed.
    MarketView& view_to_write(std::size_t market) { return markets_[market].view; }
    void play(std::size_t market, Timestamp now);
    void note_second(std::size_t market, std::int64_t second, const MarketTouch& touch);
    void renew_statistics(std::size_t market) { note_statistics(markets_[market]); }

    // Rebuilding from a journal (paper_journal.h). Each call repeats a change that was recorded, in
    // the order it was; settle_restored() then puts what rests back into the books.
    Result<void> restore_accepted(const VenueAccount& account, const VenueOrder& order);
    Result<void> restore_filled(const VenueAccount& account, const VenueFill& fill);
    Result<void> restore_ended(const VenueAccount& account, const VenueOrder& order);
    // The same from a snapshot, where money already lies where it belongs.
    Result<void> restore_account(
        const VenueAccount& account,
        std::span<const VenueBalance> balances,
        std::int64_t first_cursor);
    Result<void> restore_order(const VenueAccount& account, const VenueOrder& order);
    Result<void> restore_fill(const VenueAccount& account, const VenueFill& fill);
    // Orders so far and, per market, trades so far: ids go on from there.
    struct Counters {
        std::int64_t orders = 0;
        std::map<Symbol, std::int64_t> trades;
    };
    void restore_counters(const Counters& counters);
    void settle_restored();

    // For the snapshot.
    std::vector<const PaperAccount*> accounts() const;
    Counters counters() const;

private:
    using Handle = PaperAccount::Handle;
    // An account, and its book on each market where it ever had an order.
    struct Trader {
        Trader(const VenueAccount& name, const PaperListings& listings) : account(name, listings) {}
        PaperAccount account;
        std::vector<std::unique_ptr<PaperBook>> books;
        // For the venue's ORDERS limits: windows of ten seconds and of a day.
        std::int64_t window_10s = 0;
        std::int64_t orders_10s = 0;
        std::int64_t window_day = 0;
        std::int64_t orders_day = 0;
    };
    // A book that has resting orders, for the market to meet.
    struct Meeting {
        Trader* trader = nullptr;
        PaperBook* book = nullptr;
    };
    struct Market {
        MarketView view;
        MarketStats stats;
        MarketFacts facts;  // Statistics of the last second; the rest is filled in when asked for.
        std::optional<CandleBook> candles;  // From the first question for signals on.
        std::array<bool, kTimeframes.size()> has_history{};  // Likewise, each by itself.
        std::int64_t trade_count = 0;
        std::vector<Meeting> meetings;
    };
    struct AccountHash {
        std::size_t operator()(const VenueAccount& account) const noexcept;
    };
    struct Known {
        Trader& trader;
        Handle handle;
    };

    PaperExchange(const MarketModel& model, const PaperExchangeOptions& options, Timestamp start);
    Result<void> list_markets();
    Result<std::size_t> asset_place(const Asset& asset);
    std::optional<std::size_t> market_place(const Symbol& symbol) const;
    Result<Trader*> find_trader(const VenueAccount& account) const;
    PaperBook& book_of(Trader& trader, std::size_t market);
    Result<void> count_order(Trader& trader, const MarketRules& rules);
    Result<VenueAck> enter(Trader& trader, PaperOrder& order);
    void jump_to(std::int64_t step);
    const CandleBook& candles_of(std::size_t market, std::span<const Timeframe> timeframes);
    void jump_candles(std::size_t market, std::int64_t from, std::int64_t step);
    void note_candle_price(std::size_t market, std::int64_t step, const MarketTouch& touch);
    static void note_statistics(Market& market);
    void run_step(std::int64_t step, bool is_last);
    void meet(std::size_t market);
    // Books what a book said; fills go to `fills` when it is not null.
    void apply(Trader& trader, std::size_t market, std::vector<VenueFill>* fills);
    void note_resting(Trader& trader, std::size_t market);
    Result<PaperOrder> read_order(const VenueOrder& order) const;
    Result<Known> find_restored(const VenueAccount& account, const std::string& number) const;

    const MarketModel& model_;
    PaperExchangeOptions options_;
    PaperListings listings_;
    std::vector<Market> markets_;
    std::pmr::unsynchronized_pool_resource far_memory_;  // Of the books; outlives them.
    std::unordered_map<VenueAccount, std::unique_ptr<Trader>, AccountHash> traders_;
    PaperRecorder* recorder_ = nullptr;
    Timestamp now_;
    std::int64_t step_ = 0;
    std::int64_t order_count_ = 0;
    std::vector<PaperBookEvent> events_;  // Of the call under way.
    std::optional<BookRefusal> refusal_;
    // While rebuilding: orders by the exchange's number.
    std::unordered_map<std::int64_t, Handle> restored_;
};

}  // namespace interlock
