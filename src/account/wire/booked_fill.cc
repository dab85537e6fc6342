#include "account/wire/booked_fill.h"

#include <utility>

#include "codec/field_reader.h"

namespace interlock {
namespace {

bool is_beside_the_trade(std::string_view key) {
    return key == "account" || key == "fee_price" || key == "realized" || key == "fee_quote";
}

}  // namespace

Json encode(const BookedFill& booked) {
    Json json = encode(booked.fill);
    json.set("account", encode(booked.account));
    if (booked.fee_price) {
        json.set("fee_price", to_text(*booked.fee_price));
    }
    return json;
}

Result<BookedFill> decode_booked_fill(const Json& detail) {
    FieldReader in(detail);
    BookedFill booked;
    if (const Json* account = in.required_object("account")) {
        TRY_ASSIGN(booked.account, decode_venue_account(*account));
    }
    booked.fee_price = in.optional<Decimal>("fee_price");
    TRY_ASSIGN(booked, in.finish(std::move(booked)));
    Json trade = Json::object();
    for (const auto& [key, value] : detail.members()) {
        if (!is_beside_the_trade(key)) {
            trade.set(key, value);
        }
    }
    TRY_ASSIGN(booked.fill, decode_venue_fill(trade));
    return booked;
}

}  // namespace interlock
