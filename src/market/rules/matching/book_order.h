// What goes into a matching engine and what comes out of it: orders in whole ticks and lots, and
// the events they cause. tick_scale.h translates exact decimals to and from these units.
#pragma once

#include <compare>
#include <cstdint>
#include <variant>
#include <vector>

namespace interlock {

// A price as a whole number of tick sizes.
struct Ticks {
    std::int64_t count = 0;
    friend constexpr auto operator<=>(const Ticks&, const Ticks&) = default;
};

// A quantity as a whole number of lot steps.
struct Lots {
    std::int64_t count = 0;
    friend constexpr auto operator<=>(const Lots&, const Lots&) = default;
    friend constexpr Lots operator+(Lots a, Lots b) { return {a.count + b.count}; }
    friend constexpr Lots operator-(Lots a, Lots b) { return {a.count - b.count}; }
    constexpr Lots& operator+=(Lots other) { return *this = *this + other; }
    constexpr Lots& operator-=(Lots other) { return *this = *this - other; }
};

// Outside of these an order is refused. The sum over a full book (kBookOrdersMax in
// matching_engine.h) fits into 63 bits.
inline constexpr Ticks kBookTicksMax{std::int64_t{1} << 60};
inline constexpr Lots kBookLotsMax{std::int64_t{1} << 42};

// Chosen by the caller and unique among resting orders. An id may come back once its order is gone;
// whoever needs ids that are unique for ever keeps that promise above the engine.
enum class BookOrderId : std::uint64_t {};

// Whom self-trade prevention protects from himself. `nobody` is never prevented.
enum class BookOwner : std::uint32_t { nobody = 0 };

enum class BookSide : std::uint8_t { buy, sell };

// limit_maker is refused if any part of it would take.
enum class BookOrderKind : std::uint8_t { limit, market, limit_maker };

// A market order never rests: for it gtc means ioc.
enum class BookTimeInForce : std::uint8_t { gtc, ioc, fok };

// What happens when a taker meets an order of its own owner; the taker's mode decides.
//   expire_taker   what is left of the taker is cancelled
//   expire_maker   the resting order is cancelled and the taker goes on
//   expire_both    both
enum class BookSelfTrade : std::uint8_t { none, expire_taker, expire_maker, expire_both };

struct BookOrder {
    BookOrderId id{};
    Ticks price{};  // Ignored for market orders.
    Lots quantity{};
    BookOwner owner = BookOwner::nobody;
    BookSide side = BookSide::buy;
    BookOrderKind kind = BookOrderKind::limit;
    BookTimeInForce time_in_force = BookTimeInForce::gtc;
    BookSelfTrade self_trade = BookSelfTrade::none;
};

// A new price and total quantity for a resting order, which loses its place in the queue.
struct BookAmend {
    BookOrderId id{};
    Ticks price{};
    Lots quantity{};
    BookSelfTrade self_trade = BookSelfTrade::none;
};

enum class BookRefusal : std::uint8_t {
    bad_price,        // Not within 1 to kBookTicksMax.
    bad_quantity,     // Not within 1 to kBookLotsMax.
    bad_combination,  // limit_maker that may not rest.
    duplicate_id,     // An order with this id rests.
    unknown_order,    // Cancel or amend of an order that does not rest.
    would_take,       // limit_maker that would meet a resting order.
    orders_full,      // An order that may rest finds orders_max resting.
    levels_full,      // An order that may rest at a new price finds levels_max in use.
};

enum class BookCancelCause : std::uint8_t {
    by_user,
    replaced,        // The first half of an amend.
    ioc_rest,        // What an ioc or market order could not fill.
    fok_unfillable,  // Nothing was filled.
    self_trade,
};

struct BookAccepted {
    BookOrderId id{};
    Ticks price{};
    Lots quantity{};
    BookSide side = BookSide::buy;
    friend bool operator==(const BookAccepted&, const BookAccepted&) = default;
};

struct BookTrade {
    std::uint64_t number = 0;  // 1, 2, 3, … within one engine.
    BookOrderId maker{};
    BookOrderId taker{};
    Ticks price{};  // The maker's.
    Lots quantity{};
    Lots maker_left{};
    BookOwner maker_owner = BookOwner::nobody;
    BookSide taker_side = BookSide::buy;
    friend bool operator==(const BookTrade&, const BookTrade&) = default;
};

struct BookCancelled {
    BookOrderId id{};
    Ticks price{};
    Lots quantity{};  // What was left of the order.
    BookOwner owner = BookOwner::nobody;
    BookSide side = BookSide::buy;
    BookCancelCause cause = BookCancelCause::by_user;
    friend bool operator==(const BookCancelled&, const BookCancelled&) = default;
};

struct BookRejected {
    BookOrderId id{};
    BookRefusal reason = BookRefusal::bad_price;
    friend bool operator==(const BookRejected&, const BookRejected&) = default;
};

using BookEvent = std::variant<BookAccepted, BookTrade, BookCancelled, BookRejected>;

// The simplest sink: keeps what happened, in order. Its owner clears it between calls.
struct BookEventList {
    std::vector<BookEvent> events;

    template <class Event>
    void on(const Event& event) {
        events.emplace_back(event);
    }
};

// All orders at one price, and one of them.
struct BookLevel {
    Ticks price{};
    Lots quantity{};
    std::int64_t orders = 0;
    friend bool operator==(const BookLevel&, const BookLevel&) = default;
};

struct RestingOrder {
    BookOrderId id{};
    Ticks price{};
    Lots left{};
    BookOwner owner = BookOwner::nobody;
    BookSide side = BookSide::buy;
    friend bool operator==(const RestingOrder&, const RestingOrder&) = default;
};

}  // namespace interlock
