// One account of a tenant in one mode: its money, limits, counters and treasury, as one value that
// is stored whole with every decision. Its markets are SymbolBooks, stored beside it.
//
// Every booking is double entry. Per asset the four books venue, market, fees and external sum to
// zero; `holdings` must equal venue; the treasury books sum to zero on their own. Functions here
// either succeed whole or change nothing, and raise `version` when they changed something.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "account/rules/cost_model.h"
#include "account/rules/recovery.h"
#include "account/rules/risk_scaling.h"
#include "account/rules/symbol_book.h"
#include "account/rules/treasury_books.h"
#include "account/wire/risk_limits.h"
#include "account/wire/state_facts.h"
#include "account/wire/venue_order.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"
#include "market/wire/market_facts.h"

namespace interlock {

inline constexpr std::size_t kAssetsMax = 64;           // One more: `overloaded`.
inline constexpr std::size_t kStrategiesMax = 256;      // One more: `overloaded`.
inline constexpr std::size_t kUniverseMax = 64;         // One more: `overloaded`.
inline constexpr std::size_t kRecentIntentsMax = 1000;  // One more inside the window: refused.
inline constexpr std::size_t kExternalFlowsMax = kAssetsMax;  // One per asset.
inline constexpr std::size_t kCostAgentsMax = 64;             // Further ones share "_other".
// Events are counted in slots of time, so that no rate makes a count large; a window counts every
// slot it touches, so that it errs towards more.
inline constexpr Duration kSendSlot = Duration::of_milliseconds(250);
inline constexpr Duration kSendWindow = Duration::of_seconds(10);
inline constexpr Duration kAggressiveSlot = Duration::of_seconds(1);
// Slots of the longest window a limit allows (one hour), and one more; older ones are forgotten.
inline constexpr std::size_t kRateSlotsMax = 3602;

// One asset's four books.
struct AssetBooks {
    Decimal venue;
    Decimal market;
    Decimal fees;
    Decimal external;
    friend bool operator==(const AssetBooks&, const AssetBooks&) = default;
};

// Everything a booking touches; copied, changed and put back whole.
struct AccountMoney {
    std::map<Asset, Decimal> holdings;
    std::map<Asset, AssetBooks> books;
    TreasuryBooks treasury;
    std::vector<DayBucket> days;  // Ascending, the last is the current day.
    std::map<Asset, Decimal> unconverted_fees;
    std::map<Asset, Decimal> unbooked_cost;  // What coins without a market of ours came in at.
    std::map<std::string, Decimal> cost_by_agent;  // Model costs, since opening.
    Decimal net_deposits;
    Decimal peak;
    friend bool operator==(const AccountMoney&, const AccountMoney&) = default;
};

struct RateSlot {
    std::int64_t slot = 0;  // Time / length of a slot.
    std::int64_t count = 0;
    friend bool operator==(const RateSlot&, const RateSlot&) = default;
};

struct StrategyRecord {
    std::string type;  // "external" stands for an outside planner.
    bool is_active = false;
    bool is_disabled = false;  // By the throttle, until a human re-enables it.
    std::string disabled_reason;
    std::optional<Decimal> max_staleness_sec;
    std::optional<Decimal> max_spread_bps;
    std::optional<Decimal> max_vol_1m;
    // One per executed decision with an aggressive order, ascending.
    std::vector<RateSlot> aggressive;
    friend bool operator==(const StrategyRecord&, const StrategyRecord&) = default;
};

// A balance change we did not make, waiting for a human's word (agent-loop.md#verification).
// Signed; one per asset.
struct ExternalFlow {
    Asset asset;
    Decimal amount;
    Timestamp first_seen_at;
    Timestamp last_seen_at;
    friend bool operator==(const ExternalFlow&, const ExternalFlow&) = default;
};

struct Account {
    VenueAccount key;
    Asset quote;
    Timestamp opened_at;
    std::int64_t version = 0;
    bool trading_enabled = false;
    RiskLimits limits;
    AccountMoney money;
    TierState tier;
    RecoveryState recovery;
    std::vector<RateSlot> sends;  // Ascending, inside kSendWindow.
    Timestamp orders_day;         // The day orders_today counts.
    std::int64_t orders_today = 0;
    std::map<StrategyId, StrategyRecord> strategies;
    std::set<Symbol> universe;
    std::vector<RecentIntent> recent;  // Oldest first.
    std::vector<ExternalFlow> external_flows;
    std::map<Asset, Decimal> foreign_locked;  // By orders that are not ours.
    std::int64_t fills_cursor = 0;
    friend bool operator==(const Account&, const Account&) = default;
};

struct OpenAccount {
    VenueAccount key;
    Asset quote;
    Decimal deposit;                          // In quote; ≥ 0.
    std::optional<RiskLimits> limits = {};    // Nothing: the defaults for the deposit.
    std::optional<Decimal> ops_reserve = {};  // Nothing: 5 % of the deposit.
    Timestamp at;
};
// Trading starts disabled, recovery at normal; the first day's costs are booked.
Result<Account> open_account(const OpenAccount& wanted);

// A recorded flow. Peak and net deposits move by its value (the distance from the peak in money
// stays), the principal baseline keeps its share of the net deposits. With a book the coins become
// a lot at `price`, or are taken from the oldest lots.
struct Flow {
    Asset asset;
    Decimal amount;  // > 0.
    Decimal price;   // Quote per unit; 1 for the quote itself.
    Timestamp at;
    SymbolBook* book = nullptr;
    // Part of a quote withdrawal that pays booked costs: neither deposits nor peak move by it.
    Decimal pays_costs = Decimal();
};
Result<void> deposit(Account& account, const Flow& flow);
Result<void> withdraw(Account& account, const Flow& flow);
// A human confirmed what was seen: books the pending flow of the asset as deposit or withdrawal.
Result<void> confirm_external_flow(Account& account, Asset asset, Decimal price, SymbolBook* book);

// Puts a new order into its book (state submitting, all of it reserved) and counts its send.
Result<void> reserve_order(Account& account, SymbolBook& book, OrderRecord order);
// Replaces the order after a step; a settled one leaves the book and frees its reservation.
Result<void> release_order(Account& account, SymbolBook& book, OrderRecord order);

struct FillInput {
    const VenueFill& fill;
    // Quote per unit of a fee asset that is neither base nor quote; nothing: unconverted_fees.
    std::optional<Decimal> fee_price = std::nullopt;
    // The market of that fee asset, when the account trades it: the fee then leaves its lots.
    SymbolBook* fee_book = nullptr;
};
// The input of a fill with its fee priced and its market found, when the fee's asset needs either.
FillInput priced_fill(
    const VenueFill& fill,
    const Account& account,
    std::vector<SymbolBook>& books,
    const MarketSet& market);
struct FillTarget {
    Account& account;
    SymbolBook& book;
    OrderRecord& order;  // May be the one inside the book, or one that had left it.
};
struct FillApplied {
    bool applied = false;         // False: its trade id was booked before; nothing changed.
    Decimal realized_gross = {};  // Sells only.
    Decimal fee_quote = {};       // What was expensed; 0 when it could not be valued.
    Decimal notional = {};
    Decimal accrual = {};
    bool fee_unconverted = false;
    std::vector<std::string> drift = {};  // "overfill", "unexpected_order": booked all the same.
};
// Fees are expensed. In base on a buy: the lot is q − fee and fee × p is the expense. Selling or
// spending what the books do not hold is `books_drift` and books nothing. The order stays in its
// book; call release_order() afterwards.
Result<FillApplied> apply_fill(FillTarget target, const FillInput& input);

// A trade and what its booking came to.
struct BookedTrade {
    VenueFill fill;
    std::optional<Decimal> third_fee_price;  // As priced_fill() found it, when it was needed.
    Decimal realized;                        // In quote, before fees; sells only.
    Decimal fee_quote;
};
BookedTrade booked_trade(
    const FillInput& input, const SymbolBook& book, const FillApplied& applied);

// Moves to the day of `now`: windows reset, a daily-loss stop ends, each new day's configured costs
// are booked, days out of the window go. A `now` in the past changes nothing.
Result<void> roll_to(Account& account, Timestamp now);

struct CostBooking {
    CostKind kind = CostKind::model;
    Decimal amount;          // ≥ 0, in quote.
    std::string agent = {};  // Who caused it; empty: nobody in particular.
    Timestamp at;
};
Result<void> book_cost(Account& account, const CostBooking& cost);

struct TransferRequest {
    TreasuryBook from = TreasuryBook::trading;
    TreasuryBook to = TreasuryBook::ops_reserve;
    Decimal amount;
};
// `trading` gives no more than is held and not locked by the open orders of `books`.
Result<void> treasury_transfer(
    Account& account, const std::vector<SymbolBook>& books, const TransferRequest& wanted);

// Quote value of everything held. An asset without a price counts as nothing when what it cost is
// negligible (dust.h), which errs to the strict side; any other makes it unknown (I5).
struct Marked {
    std::optional<Decimal> equity;
    std::vector<Asset> unpriced;  // Counted as nothing, ascending.
};
Marked marked(
    const Account& account, const std::vector<SymbolBook>& books, const MarketSet& market);
std::optional<Decimal> equity_of(
    const Account& account, const std::vector<SymbolBook>& books, const MarketSet& market);
// The same, and raises the peak.
std::optional<Decimal> mark(
    Account& account, const std::vector<SymbolBook>& books, const MarketSet& market);
// A human lifts the drawdown stop: the peak starts again at today's equity.
void reset_drawdown(Account& account, Decimal equity);

// Executed intents of outside planners, for the duplicate check; refused when the window is full.
Result<void> remember_intent(Account& account, const RecentIntent& intent);
// One executed decision with an aggressive order; disables the strategy when it is one too many.
// True when it just was.
bool note_aggressive(Account& account, const StrategyId& strategy_id, Timestamp at);
std::int64_t orders_in_window(const Account& account, Timestamp now);
// Aggressive decisions of a strategy inside the window of the limits.
std::int64_t aggressive_in_window(
    const Account& account, const StrategyRecord& strategy, Timestamp now);

// Every way in which the books are not what double entry demands; empty when all is well. `books`
// are all the markets of the account.
std::vector<std::string> check_conservation(
    const Account& account, const std::vector<SymbolBook>& books);

Json encode(const Account& account);
Result<Account> decode_account(const Json& json);

}  // namespace interlock
