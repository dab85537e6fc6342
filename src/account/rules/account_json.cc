// The stored form of an account: one compact document, written with every decision. Amounts are
// texts, times whole microseconds, and rows of equal shape are arrays rather than objects.
#include <algorithm>
#include <array>

#include "account/rules/account.h"
#include "account/rules/stored_time.h"
#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::size_t kTextMax = 256;

// The amounts of a day, in the order they are stored in after the day itself.
constexpr std::array<Decimal DayBucket::*, 9> kDayAmounts{
    &DayBucket::gains,
    &DayBucket::losses,
    &DayBucket::fees,
    &DayBucket::model,
    &DayBucket::infra,
    &DayBucket::data,
    &DayBucket::ops,
    &DayBucket::accrual,
    &DayBucket::volume,
};

template <class T>
void take(FieldReader& in, Result<T> decoded, T& into) {
    if (decoded) {
        into = *std::move(decoded);
    } else {
        in.absorb(decoded.error());
    }
}

Json optional_json(const std::optional<Decimal>& amount) {
    return amount ? Json(to_text(*amount)) : Json();
}

template <class Map>
Json amounts_json(const Map& amounts) {
    Json json = Json::object();
    for (const auto& [key, amount] : amounts) {
        if constexpr (std::is_same_v<typename Map::key_type, Asset>) {
            json.members().emplace_back(std::string(key.text()), to_text(amount));
        } else {
            json.members().emplace_back(key, to_text(amount));
        }
    }
    return json;
}

// One amount of a row or a map; a bad one is a problem of `key`.
Decimal read_amount(FieldReader& in, std::string_view key, const Json& json) {
    auto amount = read_value(json, static_cast<Decimal*>(nullptr));
    if (!amount) {
        in.add_problem(key, amount.error());
        return {};
    }
    return *amount;
}

std::int64_t read_integer(FieldReader& in, std::string_view key, const Json& json) {
    const auto value = json.as_int64();
    if (!value) {
        in.add_problem(key, "expected whole numbers");
    }
    return value.value_or(0);
}

// Rows of one shape; calls `read` for each that has it.
template <class Read>
void read_rows(FieldReader& in, std::string_view key, std::size_t count_max, Read read) {
    for (const Json& row : in.required_array(key, count_max)) {
        if (!row.is_array()) {
            in.add_problem(key, "expected rows");
            return;
        }
        read(row.items());
    }
}

bool has_width(FieldReader& in, std::string_view key, const Json::Array& row, std::size_t width) {
    if (row.size() != width) {
        in.add_problem(key, "expected rows of " + std::to_string(width));
        return false;
    }
    return true;
}

std::map<Asset, Decimal> read_amounts(FieldReader& in, std::string_view key) {
    std::map<Asset, Decimal> amounts;
    const Json* object = in.required_object(key);
    if (object == nullptr) {
        return amounts;
    }
    for (const auto& [name, value] : object->members()) {
        auto asset = Asset::parse(name);
        if (!asset || amounts.size() >= kAssetsMax) {
            in.add_problem(key, "expected at most " + std::to_string(kAssetsMax) + " assets");
            break;
        }
        amounts[*asset] = read_amount(in, key, value);
    }
    return amounts;
}

Json slots_json(const std::vector<RateSlot>& slots) {
    Json json = Json::array();
    for (const RateSlot& slot : slots) {
        json.push(Json::array({slot.slot, slot.count}));
    }
    return json;
}

std::vector<RateSlot> read_slots(FieldReader& in, std::string_view key) {
    std::vector<RateSlot> slots;
    read_rows(in, key, kRateSlotsMax, [&](const Json::Array& row) {
        if (has_width(in, key, row, 2)) {
            slots.push_back({read_integer(in, key, row[0]), read_integer(in, key, row[1])});
        }
    });
    return slots;
}

Json encode_money(const AccountMoney& money) {
    Json books = Json::object();
    for (const auto& [asset, book] : money.books) {
        books.members().emplace_back(
            std::string(asset.text()),
            Json::array(
                {to_text(book.venue),
                 to_text(book.market),
                 to_text(book.fees),
                 to_text(book.external)}));
    }
    Json days = Json::array();
    for (const DayBucket& day : money.days) {
        Json row = Json::array({day.day.microseconds});
        for (const auto member : kDayAmounts) {
            row.push(to_text(day.*member));
        }
        row.push(day.fills);
        days.push(std::move(row));
    }
    Json json = Json::object({
        {"holdings", amounts_json(money.holdings)},
        {"books", std::move(books)},
        {"treasury", encode(money.treasury)},
        {"days", std::move(days)},
        {"unconverted_fees", amounts_json(money.unconverted_fees)},
        {"cost_by_agent", amounts_json(money.cost_by_agent)},
        {"net_deposits", to_text(money.net_deposits)},
        {"peak", to_text(money.peak)},
    });
    if (!money.unbooked_cost.empty()) {
        json.set("unbooked_cost", amounts_json(money.unbooked_cost));
    }
    return json;
}

void read_books(FieldReader& in, AccountMoney& money) {
    const Json* object = in.required_object("books");
    if (object == nullptr) {
        return;
    }
    for (const auto& [name, row] : object->members()) {
        auto asset = Asset::parse(name);
        if (!asset || !row.is_array() || row.items().size() != 4 ||
            money.books.size() >= kAssetsMax) {
            in.add_problem("books", "expected four amounts for each of a bounded list of assets");
            return;
        }
        const Json::Array& amounts = row.items();
        money.books[*asset] = {
            .venue = read_amount(in, "books", amounts[0]),
            .market = read_amount(in, "books", amounts[1]),
            .fees = read_amount(in, "books", amounts[2]),
            .external = read_amount(in, "books", amounts[3]),
        };
    }
}

void read_days(FieldReader& in, AccountMoney& money) {
    read_rows(in, "days", kDayBucketsMax, [&](const Json::Array& row) {
        if (!has_width(in, "days", row, kDayAmounts.size() + 2)) {
            return;
        }
        DayBucket day;
        day.day = {read_integer(in, "days", row[0])};
        for (std::size_t i = 0; i < kDayAmounts.size(); ++i) {
            day.*kDayAmounts[i] = read_amount(in, "days", row[i + 1]);
        }
        day.fills = read_integer(in, "days", row.back());
        if (!money.days.empty() && day.day <= money.days.back().day) {
            in.add_problem("days", "must be ascending");
        }
        money.days.push_back(day);
    });
    if (money.days.empty()) {
        in.add_problem("days", "must have a day");
    }
}

Result<AccountMoney> decode_money(const Json& json) {
    FieldReader in(json, "money");
    AccountMoney money;
    money.holdings = read_amounts(in, "holdings");
    read_books(in, money);
    if (const Json* treasury = in.required_object("treasury")) {
        take(in, decode_treasury_books(*treasury), money.treasury);
    }
    read_days(in, money);
    money.unconverted_fees = read_amounts(in, "unconverted_fees");
    if (json.find("unbooked_cost") != nullptr) {
        money.unbooked_cost = read_amounts(in, "unbooked_cost");
    }
    if (const Json* agents = in.required_object("cost_by_agent")) {
        if (agents->members().size() > kCostAgentsMax) {
            in.add_problem("cost_by_agent", "has too many agents");
        }
        for (const auto& [agent, amount] : agents->members()) {
            money.cost_by_agent[agent] = read_amount(in, "cost_by_agent", amount);
        }
    }
    money.net_deposits = in.required<Decimal>("net_deposits");
    money.peak = in.required<Decimal>("peak");
    in.reject_unknown();
    return in.finish(std::move(money));
}

Json encode_strategies(const Account& account) {
    Json json = Json::object();
    for (const auto& [id, strategy] : account.strategies) {
        json.members().emplace_back(
            id.text(),
            Json::object({
                {"type", strategy.type},
                {"is_active", strategy.is_active},
                {"is_disabled", strategy.is_disabled},
                {"disabled_reason", strategy.disabled_reason},
                {"max_staleness_sec", optional_json(strategy.max_staleness_sec)},
                {"max_spread_bps", optional_json(strategy.max_spread_bps)},
                {"max_vol_1m", optional_json(strategy.max_vol_1m)},
                {"aggressive", slots_json(strategy.aggressive)},
            }));
    }
    return json;
}

void read_strategies(FieldReader& in, Account& account) {
    const Json* object = in.required_object("strategies");
    if (object == nullptr) {
        return;
    }
    if (object->members().size() > kStrategiesMax) {
        in.add_problem("strategies", "has too many strategies");
        return;
    }
    for (const auto& [name, value] : object->members()) {
        auto id = StrategyId::parse(name);
        FieldReader from(value, in.path_of("strategies"));
        StrategyRecord strategy;
        strategy.type = from.required_text("type", {.length_min = 1, .length_max = kTextMax});
        strategy.is_active = from.required<bool>("is_active");
        strategy.is_disabled = from.required<bool>("is_disabled");
        strategy.disabled_reason =
            from.required_text("disabled_reason", {.length_min = 0, .length_max = kTextMax});
        strategy.max_staleness_sec = from.optional<Decimal>("max_staleness_sec");
        strategy.max_spread_bps = from.optional<Decimal>("max_spread_bps");
        strategy.max_vol_1m = from.optional<Decimal>("max_vol_1m");
        strategy.aggressive = read_slots(from, "aggressive");
        from.reject_unknown();
        if (auto read = from.finish(true); !read || !id) {
            in.absorb(id ? read.error() : id.error());
            continue;
        }
        account.strategies[*id] = std::move(strategy);
    }
}

Json encode_universe(const Account& account) {
    Json json = Json::array();
    for (const Symbol& symbol : account.universe) {
        json.push(symbol.text());
    }
    return json;
}

void read_universe(FieldReader& in, Account& account) {
    for (const Json& item : in.required_array("universe", kUniverseMax)) {
        auto symbol = Symbol::parse(item.is_string() ? item.as_string() : std::string());
        if (!symbol) {
            in.absorb(symbol.error());
            continue;
        }
        account.universe.insert(*symbol);
    }
}

Json encode_recent(const Account& account) {
    Json json = Json::array();
    for (const RecentIntent& intent : account.recent) {
        json.push(Json::object({
            {"symbol", intent.symbol.text()},
            {"side", to_word(intent.side)},
            {"qty", to_text(intent.qty)},
            {"limit_price", optional_json(intent.limit_price)},
            {"decision_id", intent.decision_id.text()},
            {"at", intent.at.microseconds},
        }));
    }
    return json;
}

void read_recent(FieldReader& in, Account& account) {
    for (const Json& item : in.required_array("recent", kRecentIntentsMax)) {
        FieldReader from(item, in.path_of("recent"));
        account.recent.push_back({
            .symbol = read_stored_symbol(from, "symbol"),
            .side = read_side(from, "side"),
            .qty = from.required<Decimal>("qty"),
            .limit_price = from.optional<Decimal>("limit_price"),
            .decision_id = from.required<DecisionId>("decision_id"),
            .at = read_stored_time(from, "at"),
        });
        from.reject_unknown();
        if (auto read = from.finish(true); !read) {
            in.absorb(read.error());
        }
    }
}

Json encode_flows(const Account& account) {
    Json json = Json::array();
    for (const ExternalFlow& flow : account.external_flows) {
        json.push(Json::object({
            {"asset", flow.asset.text()},
            {"amount", to_text(flow.amount)},
            {"first_seen_at", flow.first_seen_at.microseconds},
            {"last_seen_at", flow.last_seen_at.microseconds},
        }));
    }
    return json;
}

void read_flows(FieldReader& in, Account& account) {
    for (const Json& item : in.required_array("external_flows", kExternalFlowsMax)) {
        FieldReader from(item, in.path_of("external_flows"));
        account.external_flows.push_back({
            .asset = read_stored_asset(from, "asset"),
            .amount = from.required<Decimal>("amount"),
            .first_seen_at = read_stored_time(from, "first_seen_at"),
            .last_seen_at = read_stored_time(from, "last_seen_at"),
        });
        from.reject_unknown();
        if (auto read = from.finish(true); !read) {
            in.absorb(read.error());
        }
    }
}

void read_parts(FieldReader& in, Account& account) {
    if (const Json* limits = in.required_object("limits")) {
        take(in, decode_risk_limits(*limits), account.limits);
    }
    if (const Json* money = in.required_object("money")) {
        take(in, decode_money(*money), account.money);
    }
    if (const Json* tier = in.required_object("tier")) {
        take(in, decode_tier_state(*tier), account.tier);
    }
    if (const Json* recovery = in.required_object("recovery")) {
        take(in, decode_recovery_state(*recovery), account.recovery);
    }
}

}  // namespace

Json encode(const Account& account) {
    return Json::object({
        {"tenant_id", account.key.tenant_id.text()},
        {"account_id", account.key.account_id.text()},
        {"mode", to_word(account.key.mode)},
        {"quote", account.quote.text()},
        {"opened_at", account.opened_at.microseconds},
        {"version", account.version},
        {"trading_enabled", account.trading_enabled},
        {"limits", encode(account.limits)},
        {"money", encode_money(account.money)},
        {"tier", encode(account.tier)},
        {"recovery", encode(account.recovery)},
        {"sends", slots_json(account.sends)},
        {"orders_day", account.orders_day.microseconds},
        {"orders_today", account.orders_today},
        {"strategies", encode_strategies(account)},
        {"universe", encode_universe(account)},
        {"recent", encode_recent(account)},
        {"external_flows", encode_flows(account)},
        {"foreign_locked", amounts_json(account.foreign_locked)},
        {"fills_cursor", account.fills_cursor},
    });
}

Result<Account> decode_account(const Json& json) {
    FieldReader in(json);
    Account account;
    account.key.tenant_id = in.required<TenantId>("tenant_id");
    account.key.account_id = in.required<AccountId>("account_id");
    account.key.mode = read_trade_mode(in, "mode");
    account.quote = read_stored_asset(in, "quote");
    account.opened_at = read_stored_time(in, "opened_at");
    account.version = in.required<std::int64_t>("version");
    account.trading_enabled = in.required<bool>("trading_enabled");
    read_parts(in, account);
    account.sends = read_slots(in, "sends");
    account.orders_day = read_stored_time(in, "orders_day");
    account.orders_today = in.required<std::int64_t>("orders_today");
    read_strategies(in, account);
    read_universe(in, account);
    read_recent(in, account);
    read_flows(in, account);
    account.foreign_locked = read_amounts(in, "foreign_locked");
    account.fills_cursor = in.required<std::int64_t>("fills_cursor");
    in.reject_unknown();
    return in.finish(std::move(account));
}

}  // namespace interlock
