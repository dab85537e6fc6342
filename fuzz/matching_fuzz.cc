// Fuzzes the matching engine: any stream of calls tells the same story as the reference book, and
// leaves the same orders.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "market/rules/matching/matching_engine.h"
#include "market/rules/matching/test_reference_book.h"

namespace interlock {

constexpr std::size_t kCallBytes = 6;
constexpr std::size_t kCallsMax = 512;
constexpr MatchingLimits kLimits{
    .orders_max = 16, .levels_max = 8, .orders_expected = 1, .window_ticks = 64};

// Small numbers near each other, and a few that are absurd.
Ticks price_of(std::uint8_t byte) {
    if (byte < 224) {
        return {byte};
    }
    return {(std::int64_t{byte} - 225) << (2 * (byte - 224))};
}

template <class Book>
std::vector<BookEvent> play(Book& book, std::span<const std::uint8_t> call) {
    BookEventList sink;
    const BookOrder order{
        .id = BookOrderId{call[1] % 32u},
        .price = price_of(call[2]),
        .quantity = {call[3] % 16},
        .owner = BookOwner{call[4] % 3u},
        .side = static_cast<BookSide>(call[4] / 4 % 2),
        .kind = static_cast<BookOrderKind>(call[5] % 3),
        .time_in_force = static_cast<BookTimeInForce>(call[5] / 4 % 3),
        .self_trade = static_cast<BookSelfTrade>(call[5] / 16 % 4)};
    switch (call[0] % 8) {
        case 0:
            book.cancel(order.id, sink);
            break;
        case 1:
            book.amend({order.id, order.price, order.quantity, order.self_trade}, sink);
            break;
        default:
            book.submit(order, sink);
    }
    return sink.events;
}

void try_stream(std::span<const std::uint8_t> bytes) {
    MatchingEngine engine(kLimits);
    ReferenceBook reference(kLimits);
    for (std::size_t i = 0; i < kCallsMax && bytes.size() >= kCallBytes; ++i) {
        const auto call = bytes.first(kCallBytes);
        bytes = bytes.subspan(kCallBytes);
        CHECK(play(engine, call) == play(reference, call));
    }
    for (const BookSide side : {BookSide::buy, BookSide::sell}) {
        std::array<BookLevel, 16> levels;
        const std::size_t count = engine.top_levels(side, levels);
        CHECK(std::vector(levels.begin(), levels.begin() + count) == reference.levels(side));
    }
    CHECK(engine.resting_orders() == reference.resting_orders());
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_stream({data, size});
    return 0;
}
