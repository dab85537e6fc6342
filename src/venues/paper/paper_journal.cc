#include "venues/paper/paper_journal.h"

#include <array>
#include <utility>

#include "codec/field_reader.h"

namespace interlock {
namespace {

enum class Line {
    market,
    account_opened,
    order_accepted,
    order_filled,
    order_ended,
    counters_kept,
    account_kept,
    order_kept,
    fill_kept,
};
constexpr std::array<std::string_view, 9> kLines{
    "market",
    "account_opened",
    "order_accepted",
    "order_filled",
    "order_ended",
    "counters_kept",
    "account_kept",
    "order_kept",
    "fill_kept"};

constexpr std::int64_t kFormatVersion = 1;

Json line_of(Line type, const VenueAccount& account) {
    return Json::object(
        {{"type", kLines[static_cast<std::size_t>(type)]}, {"account", encode(account)}});
}

Json balances_json(std::span<const VenueBalance> balances) {
    Json list = Json::array();
    for (const VenueBalance& balance : balances) {
        list.push(encode(balance));
    }
    return list;
}

Result<std::vector<VenueBalance>> read_balances(FieldReader& in) {
    std::vector<VenueBalance> balances;
    for (const Json& item : in.required_array("balances", kPaperAssetsMax)) {
        TRY_ASSIGN(VenueBalance balance, decode_venue_balance(item));
        balances.push_back(std::move(balance));
    }
    return balances;
}

Result<void> take_counters(FieldReader& in, PaperExchange& exchange) {
    PaperExchange::Counters counters;
    counters.orders = in.required<std::int64_t>("orders");
    const Json trades = in.required<Json>("trades");
    if (!trades.is_object()) {
        in.add_problem("trades", "expected an object");
    } else {
        for (const auto& [name, count] : trades.members()) {
            TRY_ASSIGN(const Symbol symbol, Symbol::parse(name));
            counters.trades[symbol] = count.as_int64().value_or(0);
        }
    }
    TRY_ASSIGN(counters, in.finish(std::move(counters)));
    exchange.restore_counters(counters);
    return {};
}

Result<void> take_account(FieldReader& in, const VenueAccount& account, PaperExchange& exchange) {
    const std::int64_t first_cursor = in.optional_or<std::int64_t>("first_cursor", 1);
    TRY_ASSIGN(const std::vector<VenueBalance> balances, read_balances(in));
    TRY(in.finish(true));
    return exchange.restore_account(account, balances, first_cursor);
}

using OrderStep =
    Result<void> (PaperExchange::*)(const VenueAccount& account, const VenueOrder& order);
using FillStep =
    Result<void> (PaperExchange::*)(const VenueAccount& account, const VenueFill& fill);

Result<void> take_order(
    FieldReader& in, const VenueAccount& account, PaperExchange& exchange, OrderStep step) {
    TRY_ASSIGN(const Json json, in.finish(in.required<Json>("order")));
    TRY_ASSIGN(const VenueOrder order, decode_venue_order(json));
    return (exchange.*step)(account, order);
}

Result<void> take_fill(
    FieldReader& in, const VenueAccount& account, PaperExchange& exchange, FillStep step) {
    TRY_ASSIGN(const Json json, in.finish(in.required<Json>("fill")));
    TRY_ASSIGN(const VenueFill fill, decode_venue_fill(json));
    return (exchange.*step)(account, fill);
}

Result<void> take_line(const Json& json, PaperExchange& exchange) {
    FieldReader in(json);
    const auto type = static_cast<Line>(in.required_word_index("type", kLines));
    TRY(in.finish(true));
    if (type == Line::market) {
        TRY(in.finish(in.required_integer("version", kFormatVersion, kFormatVersion)));
        return {};
    }
    if (type == Line::counters_kept) {
        return take_counters(in, exchange);
    }
    TRY_ASSIGN(const Json named, in.finish(in.required<Json>("account")));
    TRY_ASSIGN(const VenueAccount account, decode_venue_account(named));
    switch (type) {
        case Line::order_accepted:
            return take_order(in, account, exchange, &PaperExchange::restore_accepted);
        case Line::order_ended:
            return take_order(in, account, exchange, &PaperExchange::restore_ended);
        case Line::order_kept:
            return take_order(in, account, exchange, &PaperExchange::restore_order);
        case Line::order_filled:
            return take_fill(in, account, exchange, &PaperExchange::restore_filled);
        case Line::fill_kept:
            return take_fill(in, account, exchange, &PaperExchange::restore_fill);
        default:
            return take_account(in, account, exchange);
    }
}

void keep_account(const PaperAccount& account, std::vector<Json>& lines) {
    const std::vector<VenueBalance> balances = account.balances();
    Json head = line_of(Line::account_kept, account.name());
    head.set("balances", balances_json(balances));
    head.set("first_cursor", account.first_cursor());
    lines.push_back(std::move(head));
    const auto keep_orders = [&](const std::vector<PaperAccount::Handle>& handles) {
        for (const PaperAccount::Handle handle : handles) {
            Json line = line_of(Line::order_kept, account.name());
            line.set("order", encode(account.describe(account.order(handle))));
            lines.push_back(std::move(line));
        }
    };
    keep_orders(account.finished());
    keep_orders(account.live());
    for (const PaperFill& fill : account.kept_fills()) {
        Json line = line_of(Line::fill_kept, account.name());
        line.set("fill", encode(account.describe(fill)));
        lines.push_back(std::move(line));
    }
}

}  // namespace

Result<std::unique_ptr<PaperJournal>> PaperJournal::open(
    const std::string& path, PaperExchange& exchange) {
    std::unique_ptr<PaperJournal> journal(new PaperJournal(exchange));
    TRY_ASSIGN(journal->file_, JournalFile::open(path, [&](const Json& line) {
                   return take_line(line, exchange);
               }));
    journal->batch_.push_back(journal->market_line());
    exchange.set_recorder(journal.get());
    exchange.settle_restored();
    TRY(journal->commit());
    return journal;
}

PaperJournal::~PaperJournal() {
    exchange_.set_recorder(nullptr);
}

Json PaperJournal::market_line() const {
    return Json::object({
        {"type", kLines[static_cast<std::size_t>(Line::market)]},
        {"version", kFormatVersion},
        {"step", exchange_.step()},
        {"at", to_text(exchange_.now())},
    });
}

void PaperJournal::on_opened(const VenueAccount& account, std::span<const VenueBalance> balances) {
    Json line = line_of(Line::account_opened, account);
    line.set("balances", balances_json(balances));
    line.set("at", to_text(exchange_.now()));
    batch_.push_back(std::move(line));
}

void PaperJournal::on_accepted(const VenueAccount& account, const VenueOrder& order) {
    Json line = line_of(Line::order_accepted, account);
    line.set("order", encode(order));
    batch_.push_back(std::move(line));
}

void PaperJournal::on_filled(const VenueAccount& account, const VenueFill& fill) {
    Json line = line_of(Line::order_filled, account);
    line.set("fill", encode(fill));
    batch_.push_back(std::move(line));
}

void PaperJournal::on_ended(const VenueAccount& account, const VenueOrder& order) {
    Json line = line_of(Line::order_ended, account);
    line.set("order", encode(order));
    batch_.push_back(std::move(line));
}

Result<void> PaperJournal::commit() {
    return file_->append(batch_);
}

Result<void> PaperJournal::compact() {
    TRY(commit());
    std::vector<Json> lines{market_line()};
    const PaperExchange::Counters counters = exchange_.counters();
    Json trades = Json::object();
    for (const auto& [symbol, count] : counters.trades) {
        trades.set(std::string(symbol.text()), count);
    }
    lines.push_back(Json::object({
        {"type", kLines[static_cast<std::size_t>(Line::counters_kept)]},
        {"orders", counters.orders},
        {"trades", std::move(trades)},
    }));
    for (const PaperAccount* account : exchange_.accounts()) {
        keep_account(*account, lines);
    }
    return file_->replace(lines);
}

}  // namespace interlock
