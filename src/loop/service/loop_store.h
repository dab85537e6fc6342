// The loop's machines in the store: account, books, decision and order rows, each decoded once and
// shared between turns.
//
//     loop/<tenant>                        which mode the tenant runs in, and its further accounts
//     account/<tenant>/<mode>/<account>    money, limits, counters
//     books/<tenant>/<mode>/<account>      positions and open orders of every market
//     order/<tenant>/<mode>/<account>/<id> one row per order, forever
//     decision/<tenant>/<decision>         one row per decision
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "account/rules/account.h"
#include "engine/service/turn.h"
#include "loop/rules/decision.h"

namespace interlock {

// Executed decisions whose orders the venue has not confirmed yet; one more makes execution refuse.
inline constexpr std::size_t kUnverifiedMax = 64;

// All markets of one account; one row.
struct AccountBooks {
    std::vector<SymbolBook> books;       // Ascending by symbol.
    std::vector<DecisionId> unverified;  // Oldest first.
    friend bool operator==(const AccountBooks&, const AccountBooks&) = default;
};
Json encode(const AccountBooks& books);
Result<AccountBooks> decode_account_books(const Json& json);

// What a tenant runs.
struct LoopMode {
    TradeMode mode = TradeMode::paper;
    bool live_enabled = false;
    std::set<AccountId> accounts = {};  // Those that humans opened beside the main one.
};
Json encode(const LoopMode& mode);
Result<LoopMode> decode_loop_mode(const Json& json);

std::string account_key(const VenueAccount& account);
std::string books_key(const VenueAccount& account);
std::string order_key(const VenueAccount& account, const OrderClientId& id);
std::string decision_key(const TenantId& tenant_id, const DecisionId& decision_id);
std::string loop_mode_key(const TenantId& tenant_id);

// An account as a turn sees and changes it.
struct AccountView {
    std::shared_ptr<const Account> account;
    std::shared_ptr<const AccountBooks> books;
};

// Every market whose price an account's value rests on, ascending: those with a book, and those of
// assets it holds without one (fees, external flows).
std::vector<Symbol> priced_symbols(const AccountView& view);
// Adds the markets that tell what fees in another asset than the account's quote are worth; leaves
// all of them ascending, each once.
void add_fee_symbols(
    std::vector<Symbol>& symbols, Asset quote, const std::vector<VenueFill>& fills);

Result<LoopMode> load_loop_mode(Turn& turn, const TenantId& tenant_id);
// Null account when there is none.
Result<AccountView> load_account(Turn& turn, const VenueAccount& account);
void save_account(Turn& turn, Account account);
void save_books(Turn& turn, const VenueAccount& account, AccountBooks books);

Result<std::shared_ptr<const Decision>> load_decision(
    Turn& turn, const TenantId& tenant_id, const DecisionId& decision_id);
void save_decision(Turn& turn, Decision decision);

// The row of an order, live or over; null when the id was never used.
Result<std::shared_ptr<const OrderRecord>> load_order(
    Turn& turn, const VenueAccount& account, const OrderClientId& id);
void save_order(Turn& turn, const OrderRecord& order);

}  // namespace interlock
