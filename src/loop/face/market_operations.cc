#include "loop/face/market_operations.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "codec/json_schema.h"
#include "host/face/call_arguments.h"
#include "loop/rules/canonical_state.h"
#include "loop/service/trade_reads.h"
#include "loop/wire/loop_tools.h"
#include "market/rules/candle_book.h"

namespace interlock {
namespace {

constexpr Access kReadAccess{.host_operator = true, .human = true, .agent = Scope::read};
constexpr std::int64_t kMarketPageMax = 200;

QueryParameter whole_number(
    std::string name, std::string description, std::int64_t most, std::int64_t otherwise) {
    Json schema = schema::integer();
    schema.set("minimum", 1);
    schema.set("maximum", most);
    if (otherwise > 0) {
        schema.set("default", otherwise);
    }
    return {std::move(name), std::move(description), std::move(schema)};
}

QueryParameter symbol_parameter() {
    Json schema = schema::text();
    schema.set("maxLength", 64);
    return {"symbol", "Of this market only.", std::move(schema)};
}

QueryParameter account_parameter() {
    Json schema = schema::text();
    schema.set("maxLength", 128);
    return {"account_id", "Of this account only.", std::move(schema)};
}

std::string query_text(const ApiCall& call, const char* name) {
    const auto found = call.query.find(name);
    return found == call.query.end() ? std::string() : found->second;
}

Operation read_operation(std::string id, std::string path, std::string summary) {
    return {
        .id = std::move(id),
        .method = "GET",
        .path = "/api/{tenant_id}/" + std::move(path),
        .summary = std::move(summary),
        .description = "",
        .access = kReadAccess,
        .query = {},
        .request_schema = {},
        .answer_schema = {},
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle = nullptr,
    };
}

Json rules_json(const MarketRules& rules) {
    return Json::object({
        {"base", rules.base.text()},
        {"quote", rules.quote.text()},
        {"tick_size", to_text(rules.tick_size)},
        {"step_size", to_text(rules.step_size)},
        {"qty_min", to_text(rules.qty_min)},
        {"qty_max", to_text(rules.qty_max)},
        {"notional_min", to_text(rules.notional_min)},
        {"notional_max", to_text(rules.notional_max)},
    });
}

// Since a day ago, as a fraction; nothing while a day of hours is not there.
Json day_change(const MarketFeed& feed, const MarketFacts& facts) {
    constexpr std::size_t kHoursOfADay = 24;
    const std::vector<Candle> hours = feed.candles(facts.symbol, Timeframe::h1);
    const auto mid = mid_of(facts);
    if (hours.size() < kHoursOfADay || !mid) {
        return {};
    }
    const Decimal then = hours[hours.size() - kHoursOfADay].open;
    const auto moved = subtract(*mid, then);
    const auto change = moved ? divide_round_down(*moved, then) : moved;
    const auto rounded =
        change ? floor_to_step(*change, Decimal::from_units(100'000'000'000'000)) : change;
    return rounded ? Json::number(to_text(*rounded)) : Json();
}

Json market_schema() {
    const Json price = schema::or_null(schema::text());
    return schema::object({
        {"symbol", schema::text()},
        {"best_bid", price},
        {"best_ask", price},
        {"mid", price},
        {"spread_bps", schema::or_null(schema::number())},
        {"vol_1m", schema::number("A fraction: 0.001 is 10 bps.")},
        {"vol_samples", schema::integer()},
        {"staleness_sec", schema::number()},
        {"halted", schema::boolean()},
        {"day_change", schema::or_null(schema::number("A fraction, over the last 24 hours."))},
        {"rules",
         schema::object({
             {"base", schema::text()},
             {"quote", schema::text()},
             {"tick_size", schema::text("A limit_price is a multiple of it; 0: any.")},
             {"step_size", schema::text("A qty is a multiple of it; 0: any.")},
             {"qty_min", schema::text("Base units.")},
             {"qty_max", schema::text("Base units; 0: none.")},
             {"notional_min", schema::text("Least value of an order, in quote.")},
             {"notional_max", schema::text("In quote; 0: none.")},
         })},
    });
}

Operation markets_operation(const MarketReads& reads) {
    Operation operation = read_operation(
        "markets", "markets", "Markets with touch, spread, volatility, age, halt and rules.");
    operation.query = {
        {"after", "Only symbols behind this one.", symbol_parameter().schema},
        whole_number("limit", "Markets a page.", kMarketPageMax, kMarketPageMax)};
    operation.answer_schema = schema::object({
        {"markets", schema::list(market_schema(), "Ascending by symbol.")},
        {"next_after", schema::or_null(schema::text("Null: these were the last."))},
    });
    operation.handle = [reads](const ApiCall& call, const ApiReplyTo& reply) {
        const auto after = call.query.find("after");
        const auto limit = static_cast<std::size_t>(query_integer(call, "limit", kMarketPageMax));
        std::vector<Symbol> symbols = reads.feed.symbols();
        std::ranges::sort(symbols);
        std::erase_if(symbols, [&](const Symbol& symbol) {
            return after != call.query.end() && symbol.text() <= after->second;
        });
        const bool is_more = symbols.size() > limit;
        symbols.resize(std::min(symbols.size(), limit));
        Json list = Json::array();
        for (const MarketFacts& facts : reads.feed.facts(symbols).markets) {
            Json one = market_entry(facts, reads.clock.now());
            one.set("day_change", day_change(reads.feed, facts));
            one.set("rules", rules_json(facts.rules));
            list.push(std::move(one));
        }
        reply(json_reply(
            200,
            Json::object(
                {{"markets", std::move(list)},
                 {"next_after", is_more ? Json(symbols.back().text()) : Json()}})));
    };
    return operation;
}

Result<MarketFacts> facts_of(const MarketFeed& feed, const std::string& text, bool with_depth) {
    const auto symbol = Symbol::parse(text);
    const std::array<Symbol, 1> wanted{symbol ? *symbol : Symbol()};
    const std::span<const Symbol> deep(wanted.data(), with_depth ? 1 : 0);
    const MarketSet set = symbol ? feed.deep_facts(wanted, deep) : MarketSet();
    if (set.markets.empty()) {
        return fail(errors::unknown_symbol, "There is no such market.", "Read GET /markets.");
    }
    return set.markets.front();
}

Operation candles_operation(const MarketReads& reads) {
    Operation operation = read_operation(
        "market_candles", "markets/{symbol}/candles", "Closed candles of a market, oldest first.");
    operation.description = "The latest 200 of each timeframe are kept.";
    Json length = schema::text();
    Json words = Json::array();
    for (const std::string_view word : kTimeframeWords) {
        words.push(word);
    }
    length.set("enum", std::move(words));
    length.set("default", "1h");
    Json until = schema::text();
    until.set("format", "date-time");
    operation.query = {
        {"timeframe", "Length of a candle.", std::move(length)},
        {"before", "Only candles opened before this time, RFC 3339.", std::move(until)},
        whole_number("limit", "The latest so many.", kCandlesKept, 100)};
    operation.answer_schema = schema::object({
        {"symbol", schema::text()},
        {"timeframe", schema::text()},
        {"candles",
         schema::list(schema::object({
             {"opened_at", schema::moment()},
             {"open", schema::text()},
             {"high", schema::text()},
             {"low", schema::text()},
             {"close", schema::text()},
         }))},
    });
    operation.handle = [reads](const ApiCall& call, const ApiReplyTo& reply) {
        const std::string& symbol = call.path.at("symbol");
        const auto facts = facts_of(reads.feed, symbol, false);
        const auto wanted = call.query.find("timeframe");
        const auto timeframe = parse_timeframe(wanted == call.query.end() ? "1h" : wanted->second);
        const auto end = call.query.find("before");
        const auto before = end == call.query.end() ? Result<Timestamp>(reads.clock.now())
                                                    : parse_timestamp(end->second);
        if (!facts || !timeframe || !before) {
            reply(std::unexpected(
                !facts ? facts.error()
                : !timeframe
                    ? timeframe.error()
                    : fail(errors::invalid_request, "before is no RFC 3339 time.").error()));
            return;
        }
        std::vector<Candle> candles = reads.feed.candles(facts->symbol, *timeframe);
        std::erase_if(candles, [&](const Candle& candle) { return candle.opened_at >= *before; });
        const auto limit = static_cast<std::size_t>(query_integer(call, "limit", 100));
        const std::size_t from = candles.size() - std::min(candles.size(), limit);
        Json list = Json::array();
        for (std::size_t i = from; i < candles.size(); ++i) {
            list.push(Json::object({
                {"opened_at", to_text(candles[i].opened_at)},
                {"open", to_text(candles[i].open)},
                {"high", to_text(candles[i].high)},
                {"low", to_text(candles[i].low)},
                {"close", to_text(candles[i].close)},
            }));
        }
        reply(json_reply(
            200,
            Json::object(
                {{"symbol", symbol},
                 {"timeframe", to_word(*timeframe)},
                 {"candles", std::move(list)}})));
    };
    return operation;
}

Json levels_json(const std::vector<DepthLevel>& levels, std::size_t count) {
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(levels.size(), count); ++i) {
        list.push(
            Json::object({{"price", to_text(levels[i].price)}, {"qty", to_text(levels[i].qty)}}));
    }
    return list;
}

Operation book_operation(const MarketReads& reads) {
    Operation operation = read_operation(
        "market_book", "markets/{symbol}/book", "The order book of a market, best prices first.");
    operation.query = {whole_number(
        "levels",
        "Prices a side.",
        static_cast<std::int64_t>(kDepthLevelsMax),
        static_cast<std::int64_t>(kDepthLevelsMax))};
    const Json levels = schema::list(
        schema::object({{"price", schema::text()}, {"qty", schema::text("Base units.")}}));
    operation.answer_schema = schema::object({
        {"symbol", schema::text()},
        {"at", schema::moment("By the venue's clock.")},
        {"halted", schema::boolean()},
        {"bids", levels},
        {"asks", levels},
    });
    operation.handle = [reads](const ApiCall& call, const ApiReplyTo& reply) {
        const auto facts = facts_of(reads.feed, call.path.at("symbol"), true);
        if (!facts) {
            reply(std::unexpected(facts.error()));
            return;
        }
        const auto count = static_cast<std::size_t>(
            query_integer(call, "levels", static_cast<std::int64_t>(kDepthLevelsMax)));
        reply(json_reply(
            200,
            Json::object({
                {"symbol", facts->symbol.text()},
                {"at", to_text(facts->exchange_at)},
                {"halted", is_halted(*facts)},
                {"bids", levels_json(facts->bids, count)},
                {"asks", levels_json(facts->asks, count)},
            })));
    };
    return operation;
}

struct TradeRead {
    std::string name;
    std::string summary;
    std::function<void(const ApiCall&, const TradeQuery&, const TradePageTo&)> read;
    std::string (*csv)(const Json&);
    Json row_schema;
};

bool wants_csv(const ApiCall& call) {
    const auto accept = call.http == nullptr ? std::nullopt : call.http->header("Accept");
    return accept && accept->find("text/csv") != std::string_view::npos;
}

ApiReply page_reply(const std::string& name, std::string (*csv)(const Json&), TradePage page) {
    Json next = page.next_before ? Json(*page.next_before) : Json();
    if (csv == nullptr) {
        return json_reply(
            200, Json::object({{name, std::move(page.rows)}, {"next_before", std::move(next)}}));
    }
    ApiReply text;
    text.body = csv(page.rows);
    text.content_type = "text/csv; charset=utf-8";
    text.headers.push_back({"X-Next-Before", next.is_null() ? "" : to_text(next)});
    return text;
}

Operation trades_operation(TradeRead trade) {
    Operation operation = read_operation(trade.name, trade.name, trade.summary);
    operation.description =
        "A page looks at 5,000 audit records: it may be short with more behind it. As CSV with "
        "Accept: text/csv, then X-Next-Before has next_before.";
    Json before = schema::integer();
    before.set("minimum", 1);
    operation.query = {
        {"before", "The next_before of the page before.", std::move(before)},
        whole_number("limit", "Rows a page.", kTradePageMax, kTradePageDefault),
        symbol_parameter(),
        account_parameter()};
    operation.answer_schema = schema::object({
        {trade.name, schema::list(std::move(trade.row_schema), "Newest first.")},
        {"next_before", schema::or_null(schema::integer("Null: none is older, outside archives."))},
    });
    operation.answer_content_types = {"text/csv"};
    operation.handle = [name = trade.name, read = trade.read, csv = trade.csv](
                           const ApiCall& call, const ApiReplyTo& reply) {
        const TradeQuery query{
            .tenant_id = call.tenant_id,
            .before = query_integer(call, "before", 0),
            .limit = query_integer(call, "limit", kTradePageDefault),
            .symbol = query_text(call, "symbol"),
            .account_id = query_text(call, "account_id")};
        const auto made_csv = wants_csv(call) ? csv : nullptr;
        read(call, query, [name, made_csv, reply](Result<TradePage> page) {
            if (!page) {
                reply(std::unexpected(std::move(page).error()));
            } else {
                reply(page_reply(name, made_csv, *std::move(page)));
            }
        });
    };
    return operation;
}

}  // namespace

void register_market_operations(OperationTable& table, LoopService& loop, MarketReads reads) {
    table.add(markets_operation(reads));
    table.add(candles_operation(reads));
    table.add(book_operation(reads));
    table.add(trades_operation(
        {.name = "orders",
         .summary = "Orders that were sent, newest first, with what became of them.",
         .read =
             [reads, &loop](const ApiCall& call, const TradeQuery& query, const TradePageTo& done) {
                 auto page = read_orders(reads.store, query);
                 if (!page) {
                     done(std::move(page));
                     return;
                 }
                 charge_records(call, page->records_read);
                 loop.submit(order_ends_turn(call.principal, query, *std::move(page), done));
             },
         .csv = orders_csv,
         .row_schema = order_row_schema()}));
    table.add(trades_operation(
        {.name = "fills",
         .summary = "Trades of this tenant's own orders, newest first.",
         .read =
             [reads](const ApiCall& call, const TradeQuery& query, const TradePageTo& done) {
                 auto page = read_fills(reads.store, query);
                 charge_records(call, page ? page->records_read : 0);
                 done(std::move(page));
             },
         .csv = fills_csv,
         .row_schema = fill_row_schema()}));
}

}  // namespace interlock
