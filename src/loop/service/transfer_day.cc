#include "loop/service/transfer_day.h"

#include "codec/field_reader.h"

namespace interlock {
namespace {

struct TransferDay {
    Timestamp day;
    Decimal sum;
};

std::string key_of(const VenueAccount& account) {
    return "transfers/" + account.tenant_id.text() + "/" + std::string(to_word(account.mode)) +
           "/" + account.account_id.text();
}

Result<TransferDay> decode_transfer_day(const Json& json) {
    FieldReader in(json);
    return in.finish(TransferDay{
        .day = in.required<Timestamp>("day"),
        .sum = in.required<Decimal>("sum"),
    });
}

}  // namespace

Result<Decimal> transferred_today(Turn& turn, const VenueAccount& account) {
    const TransferDay none;
    TRY_ASSIGN(
        const TransferDay last,
        turn.load_or<TransferDay>(key_of(account), decode_transfer_day, none));
    // A clock that was set back does not begin the day anew.
    return last.day >= utc_day_start(turn.now()) ? last.sum : Decimal();
}

Result<void> note_transfer(Turn& turn, const VenueAccount& account, Decimal amount) {
    TRY_ASSIGN(const Decimal before, transferred_today(turn, account));
    TRY_ASSIGN(const Decimal sum, add(before, amount));
    turn.save(
        key_of(account),
        Json::object({{"day", to_text(utc_day_start(turn.now()))}, {"sum", to_text(sum)}}));
    return {};
}

}  // namespace interlock
