#include "loop/service/loop_store.h"

#include <algorithm>
#include <set>

#include "codec/field_reader.h"
#include "loop/rules/decision_text.h"
#include "loop/wire/control.h"

namespace interlock {
namespace {

constexpr std::size_t kBooksMax = 1000;

std::string path_of(std::string_view kind, const VenueAccount& account) {
    return std::string(kind) + "/" + account.tenant_id.text() + "/" +
           std::string(to_word(account.mode)) + "/" + account.account_id.text();
}

}  // namespace

// Every step saves its decision; its row has a writer of its own.
template <>
void Turn::save_as<Decision>(
    const std::string& machine_key, std::shared_ptr<const Decision> value) {
    HeldState& held = stage(machine_key, row_text(*value));
    held.value = std::move(value);
    held.value_type = &kStateTypeTag<Decision>;
}

Json encode(const AccountBooks& books) {
    Json list = Json::array();
    for (const SymbolBook& book : books.books) {
        list.push(encode(book));
    }
    Json unverified = Json::array();
    for (const DecisionId& id : books.unverified) {
        unverified.push(id.text());
    }
    return Json::object({{"books", std::move(list)}, {"unverified", std::move(unverified)}});
}

Result<AccountBooks> decode_account_books(const Json& json) {
    FieldReader in(json);
    AccountBooks books;
    for (const Json& item : in.required_array("books", kBooksMax)) {
        TRY_ASSIGN(SymbolBook book, decode_symbol_book(item));
        books.books.push_back(std::move(book));
    }
    for (const Json& item : in.required_array("unverified", kUnverifiedMax)) {
        TRY_ASSIGN(DecisionId id, DecisionId::parse(item.is_string() ? item.as_string() : ""));
        books.unverified.push_back(std::move(id));
    }
    return in.finish(std::move(books));
}

Json encode(const LoopMode& mode) {
    Json json = Json::object({{"mode", to_word(mode.mode)}, {"live_enabled", mode.live_enabled}});
    if (!mode.accounts.empty()) {
        Json accounts = Json::array();
        for (const AccountId& id : mode.accounts) {
            accounts.push(id.text());
        }
        json.set("accounts", std::move(accounts));
    }
    return json;
}

Result<LoopMode> decode_loop_mode(const Json& json) {
    FieldReader in(json);
    LoopMode mode{
        .mode = read_trade_mode(in, "mode"), .live_enabled = in.required<bool>("live_enabled")};
    if (const Json::Array* accounts = in.optional_array("accounts", kAccountsMax - 1)) {
        for (const Json& item : *accounts) {
            TRY_ASSIGN(AccountId id, AccountId::parse(item.is_string() ? item.as_string() : ""));
            mode.accounts.insert(std::move(id));
        }
    }
    return in.finish(std::move(mode));
}

std::string account_key(const VenueAccount& account) {
    return path_of("account", account);
}
std::string books_key(const VenueAccount& account) {
    return path_of("books", account);
}
std::string order_key(const VenueAccount& account, const OrderClientId& id) {
    return path_of("order", account) + "/" + id.text();
}
std::string decision_key(const TenantId& tenant_id, const DecisionId& decision_id) {
    return "decision/" + tenant_id.text() + "/" + decision_id.text();
}
std::string loop_mode_key(const TenantId& tenant_id) {
    return "loop/" + tenant_id.text();
}

std::vector<Symbol> priced_symbols(const AccountView& view) {
    std::set<Symbol> symbols;
    for (const SymbolBook& book : view.books->books) {
        symbols.insert(book.symbol);
    }
    const Asset& quote = view.account->quote;
    for (const auto& [asset, amount] : view.account->money.holdings) {
        const auto symbol = Symbol::parse(std::string(asset.text()) + std::string(quote.text()));
        if (asset != quote && symbol) {
            symbols.insert(*symbol);
        }
    }
    return {symbols.begin(), symbols.end()};
}

void add_fee_symbols(
    std::vector<Symbol>& symbols, Asset quote, const std::vector<VenueFill>& fills) {
    for (const VenueFill& fill : fills) {
        const auto symbol =
            Symbol::parse(std::string(fill.fee_asset.text()) + std::string(quote.text()));
        if (fill.fee_asset != quote && symbol) {
            symbols.push_back(*symbol);
        }
    }
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
}

Result<LoopMode> load_loop_mode(Turn& turn, const TenantId& tenant_id) {
    TRY_ASSIGN(const auto mode, turn.load_as<LoopMode>(loop_mode_key(tenant_id), decode_loop_mode));
    return mode ? *mode : LoopMode{};
}

Result<AccountView> load_account(Turn& turn, const VenueAccount& account) {
    AccountView view;
    TRY_ASSIGN(view.account, turn.load_as<Account>(account_key(account), decode_account));
    if (view.account) {
        TRY_ASSIGN(
            view.books, turn.load_as<AccountBooks>(books_key(account), decode_account_books));
    }
    if (!view.books) {
        view.books = std::make_shared<const AccountBooks>();
    }
    return view;
}

void save_account(Turn& turn, Account account) {
    const std::string key = account_key(account.key);
    turn.save_as<Account>(key, std::make_shared<const Account>(std::move(account)));
}

void save_books(Turn& turn, const VenueAccount& account, AccountBooks books) {
    turn.save_as<AccountBooks>(
        books_key(account), std::make_shared<const AccountBooks>(std::move(books)));
}

Result<std::shared_ptr<const Decision>> load_decision(
    Turn& turn, const TenantId& tenant_id, const DecisionId& decision_id) {
    return turn.load_as<Decision>(decision_key(tenant_id, decision_id), decode_decision);
}

void save_decision(Turn& turn, Decision decision) {
    const std::string key = decision_key(decision.account.tenant_id, decision.decision_id);
    turn.save_as<Decision>(key, std::make_shared<const Decision>(std::move(decision)));
}

Result<std::shared_ptr<const OrderRecord>> load_order(
    Turn& turn, const VenueAccount& account, const OrderClientId& id) {
    return turn.load_as<OrderRecord>(order_key(account, id), decode_order_record);
}

void save_order(Turn& turn, const OrderRecord& order) {
    turn.save_as<OrderRecord>(
        order_key(order.request.account, order.id()), std::make_shared<const OrderRecord>(order));
}

}  // namespace interlock
