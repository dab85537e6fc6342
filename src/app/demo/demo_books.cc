#include "app/demo/demo_books.h"

#include <algorithm>
#include <fstream>

#include "account/wire/venue_order.h"
#include "base/errors.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

Result<void> add_to(std::map<std::string, Decimal>& holdings, const Asset& asset, Decimal amount) {
    Decimal& held = holdings[std::string(asset.text())];
    TRY_ASSIGN(held, add(held, amount));
    return {};
}

Decimal negative(Decimal amount) {
    return *subtract(Decimal(), amount);
}

// The demo trades against USDT only.
Result<void> take_fill(VenueBooks& books, const Json& json) {
    TRY_ASSIGN(const VenueFill fill, decode_venue_fill(json));
    const std::string symbol(fill.symbol.text());
    TRY_ASSIGN(const Asset quote, Asset::parse("USDT"));
    TRY_ASSIGN(const Asset base, Asset::parse(symbol.substr(0, symbol.size() - 4)));
    TRY_ASSIGN(const Decimal paid, multiply_half_even(fill.qty, fill.price));
    const bool is_buy = fill.side == Side::buy;
    TRY(add_to(books.holdings, base, is_buy ? fill.qty : negative(fill.qty)));
    TRY(add_to(books.holdings, quote, is_buy ? negative(paid) : paid));
    TRY(add_to(books.holdings, fill.fee_asset, negative(fill.fee)));
    ++books.fills;
    return {};
}

Result<void> take_line(VenueBooks& books, const Json& line) {
    FieldReader in(line);
    const auto type = in.required<std::string>("type");
    if (type == "account_opened") {
        for (const Json& item : in.required_array("balances", 100)) {
            TRY_ASSIGN(const VenueBalance balance, decode_venue_balance(item));
            TRY(add_to(books.holdings, balance.asset, balance.free));
        }
    } else if (type == "order_accepted") {
        const Json order = in.required<Json>("order");
        TRY_ASSIGN(const VenueOrder accepted, decode_venue_order(order));
        ++books.accepted[accepted.order_client_id.text()];
    } else if (type == "order_filled") {
        TRY(take_fill(books, in.required<Json>("fill")));
    }
    return in.finish(true) ? Result<void>() : fail(errors::corrupt_data, "A line is malformed.");
}

bool is_of(const Json& line, const std::string& tenant) {
    const Json* account = line.find("account");
    const Json* named = account == nullptr ? nullptr : account->find("tenant_id");
    return named != nullptr && *named == Json(tenant);
}

}  // namespace

bool VenueBooks::has_duplicate() const {
    return std::any_of(
        accepted.begin(), accepted.end(), [](const auto& order) { return order.second > 1; });
}

Result<VenueBooks> read_venue_books(const std::string& data_folder, const std::string& tenant) {
    std::ifstream journal(data_folder + "/paper.journal");
    VenueBooks books;
    std::vector<Json> batch;  // Counts only once its last line is there.
    for (std::string text; std::getline(journal, text);) {
        TRY_ASSIGN(Json line, parse_json(text));
        const bool is_last = line.find("last") != nullptr;
        if (is_of(line, tenant)) {
            batch.push_back(std::move(line));
        }
        if (is_last) {
            for (const Json& whole : batch) {
                TRY(take_line(books, whole));
            }
            batch.clear();
        }
    }
    std::erase_if(books.holdings, [](const auto& entry) { return entry.second.is_zero(); });
    return books;
}

Result<std::map<std::string, Decimal>> holdings_of(const Json& account) {
    FieldReader in(account);
    std::map<std::string, Decimal> holdings;
    for (const Json& item : in.required_array("balances", 1000)) {
        TRY_ASSIGN(const VenueBalance balance, decode_venue_balance(item));
        TRY(add_to(holdings, balance.asset, balance.free));
        TRY(add_to(holdings, balance.asset, balance.locked));
    }
    TRY(in.finish(true));
    std::erase_if(holdings, [](const auto& entry) { return entry.second.is_zero(); });
    return holdings;
}

std::string describe_holdings(const std::map<std::string, Decimal>& holdings) {
    std::string text;
    for (const auto& [asset, amount] : holdings) {
        text += (text.empty() ? "" : ", ") + to_text(amount) + " " + asset;
    }
    return text.empty() ? "nothing" : text;
}

}  // namespace interlock
