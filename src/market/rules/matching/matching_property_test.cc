// Random streams of every kind of order, played to the engine and to the reference book: the same
// events, the same book, nothing created or lost, and no memory beyond the bound.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <map>
#include <memory_resource>
#include <set>
#include <vector>

#include "market/rules/matching/test_reference_book.h"

namespace interlock {
namespace {

struct Call {
    enum class Kind { submit, cancel, amend } kind = Kind::submit;
    BookOrder order;
};

// Narrow enough that orders meet, wide enough that prices leave a small window on both sides.
rc::Gen<Ticks> any_price() {
    return rc::gen::weightedOneOf<Ticks>({
        {16,
         rc::gen::map(rc::gen::inRange<std::int64_t>(95, 106), [](auto n) { return Ticks{n}; })},
        {4, rc::gen::map(rc::gen::inRange<std::int64_t>(1, 400), [](auto n) { return Ticks{n}; })},
        {2,
         rc::gen::element(
             Ticks{1},
             Ticks{1'000'000},
             Ticks{1'000'064},
             kBookTicksMax,
             Ticks{kBookTicksMax.count - 1})},
        {1, rc::gen::element(Ticks{0}, Ticks{-1}, Ticks{kBookTicksMax.count + 1})},
    });
}

rc::Gen<Call> any_call() {
    return rc::gen::apply(
        [](int what, BookOrder order, Ticks price) {
            order.price = price;
            const auto kind = what < 6   ? Call::Kind::submit
                              : what < 8 ? Call::Kind::cancel
                                         : Call::Kind::amend;
            return Call{kind, order};
        },
        rc::gen::inRange(0, 10),
        rc::gen::build<BookOrder>(
            rc::gen::set(
                &BookOrder::id,
                rc::gen::map(
                    rc::gen::inRange<std::uint64_t>(0, 40), [](auto n) { return BookOrderId{n}; })),
            rc::gen::set(
                &BookOrder::quantity,
                rc::gen::map(
                    rc::gen::inRange<std::int64_t>(0, 12), [](auto n) { return Lots{n}; })),
            rc::gen::set(
                &BookOrder::owner,
                rc::gen::map(
                    rc::gen::inRange<std::uint32_t>(0, 3), [](auto n) { return BookOwner{n}; })),
            rc::gen::set(&BookOrder::side, rc::gen::element(BookSide::buy, BookSide::sell)),
            rc::gen::set(
                &BookOrder::kind,
                rc::gen::weightedElement<BookOrderKind>({
                    {8, BookOrderKind::limit},
                    {1, BookOrderKind::market},
                    {2, BookOrderKind::limit_maker},
                })),
            rc::gen::set(
                &BookOrder::time_in_force,
                rc::gen::weightedElement<BookTimeInForce>({
                    {6, BookTimeInForce::gtc},
                    {1, BookTimeInForce::ioc},
                    {1, BookTimeInForce::fok},
                })),
            rc::gen::set(
                &BookOrder::self_trade,
                rc::gen::element(
                    BookSelfTrade::none,
                    BookSelfTrade::expire_taker,
                    BookSelfTrade::expire_maker,
                    BookSelfTrade::expire_both))),
        any_price());
}

template <class Book>
std::vector<BookEvent> play(Book& book, const Call& call) {
    BookEventList sink;
    const BookOrder& order = call.order;
    if (call.kind == Call::Kind::submit) {
        book.submit(order, sink);
    } else if (call.kind == Call::Kind::cancel) {
        book.cancel(order.id, sink);
    } else {
        book.amend({order.id, order.price, order.quantity, order.self_trade}, sink);
    }
    return sink.events;
}

std::vector<BookLevel> levels_of(const MatchingEngine& engine, BookSide side) {
    std::vector<BookLevel> levels(64);
    levels.resize(engine.top_levels(side, levels));
    return levels;
}

std::vector<RestingOrder> orders_of(const MatchingEngine& engine, BookSide side) {
    std::vector<RestingOrder> orders;
    for (const BookLevel& level : levels_of(engine, side)) {
        std::array<RestingOrder, 64> queue;
        const std::size_t count = engine.queue_at(side, level.price, queue);
        orders.insert(orders.end(), queue.begin(), queue.begin() + static_cast<int>(count));
    }
    return orders;
}

constexpr MatchingLimits kSmall{
    .orders_max = 12, .levels_max = 8, .orders_expected = 1, .window_ticks = 64};

// The generator's streams cover what they are meant to cover, or the properties below are hollow.
TEST(MatchingProperty, StreamsReachEveryKindOfEvent) {
    std::set<BookRefusal> refusals;
    std::set<BookCancelCause> causes;
    std::size_t trades = 0;
    EXPECT_TRUE(rc::check([&] {
        MatchingEngine engine(kSmall);
        for (const Call& call : *rc::gen::container<std::vector<Call>>(200, any_call())) {
            for (const BookEvent& event : play(engine, call)) {
                if (const auto* rejected = std::get_if<BookRejected>(&event)) {
                    refusals.insert(rejected->reason);
                } else if (const auto* cancelled = std::get_if<BookCancelled>(&event)) {
                    causes.insert(cancelled->cause);
                }
                trades += std::holds_alternative<BookTrade>(event) ? 1 : 0;
            }
        }
    }));
    EXPECT_EQ(refusals.size(), 8u);
    EXPECT_EQ(causes.size(), 5u);
    EXPECT_GT(trades, 100u);
}

TEST(MatchingProperty, TellsTheSameStoryAsTheReference) {
    EXPECT_TRUE(rc::check([] {
        MatchingEngine engine(kSmall);
        ReferenceBook reference(kSmall);
        for (const Call& call : *rc::gen::container<std::vector<Call>>(200, any_call())) {
            RC_ASSERT(play(engine, call) == play(reference, call));
        }
        for (const BookSide side : {BookSide::buy, BookSide::sell}) {
            RC_ASSERT(levels_of(engine, side) == reference.levels(side));
            RC_ASSERT(orders_of(engine, side) == reference.by_priority(side));
        }
        RC_ASSERT(engine.resting_orders() == reference.resting_orders());
    }));
}

TEST(MatchingProperty, BidsStayBelowAsks) {
    EXPECT_TRUE(rc::check([] {
        MatchingEngine engine(kSmall);
        for (const Call& call : *rc::gen::container<std::vector<Call>>(100, any_call())) {
            play(engine, call);
            const auto bid = engine.best(BookSide::buy);
            const auto ask = engine.best(BookSide::sell);
            // RC_ASSERT itself looks at both sides of an ||.
            const bool is_apart = !bid || !ask || bid->price < ask->price;
            RC_ASSERT(is_apart);
        }
    }));
}

// What was accepted is traded, cancelled or resting; each trade takes as much from both orders.
TEST(MatchingProperty, QuantityIsConserved) {
    EXPECT_TRUE(rc::check([] {
        MatchingEngine engine(kSmall);
        std::map<BookOrderId, Lots> open;
        for (const Call& call : *rc::gen::container<std::vector<Call>>(200, any_call())) {
            for (const BookEvent& event : play(engine, call)) {
                if (const auto* accepted = std::get_if<BookAccepted>(&event)) {
                    RC_ASSERT(open[accepted->id] == Lots{0});
                    open[accepted->id] = accepted->quantity;
                } else if (const auto* trade = std::get_if<BookTrade>(&event)) {
                    open[trade->maker] -= trade->quantity;
                    open[trade->taker] -= trade->quantity;
                    RC_ASSERT(open[trade->maker] == trade->maker_left);
                } else if (const auto* cancelled = std::get_if<BookCancelled>(&event)) {
                    open[cancelled->id] -= cancelled->quantity;
                    RC_ASSERT(open[cancelled->id] == Lots{0});
                }
            }
        }
        for (const auto& [id, left] : open) {
            const auto resting = engine.find(id);
            RC_ASSERT((resting ? resting->left : Lots{0}) == left);
        }
    }));
}

// Counts what it gives, so that a bound on memory can be checked to the byte.
class CountingMemory : public std::pmr::memory_resource {
public:
    std::size_t held() const { return held_; }
    std::size_t held_most() const { return held_most_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        held_ += bytes;
        held_most_ = std::max(held_most_, held_);
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        held_ -= bytes;
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::size_t held_ = 0;
    std::size_t held_most_ = 0;
};

TEST(MatchingMemory, AbsurdPricesStayWithinTheBound) {
    constexpr MatchingLimits kLimits{.orders_max = 512, .levels_max = 256, .window_ticks = 1024};
    CountingMemory memory;
    MatchingEngine engine(kLimits, memory);
    BookEventList sink;
    std::uint64_t random = 1;
    std::size_t full = 0;
    for (std::uint64_t id = 1; id <= 100'000; ++id) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        // Every magnitude from one tick to the largest, never crossing.
        const auto price = static_cast<std::int64_t>(random >> (4 + (random >> 20) % 59)) + 1;
        engine.submit({.id = BookOrderId{id}, .price = {price}, .quantity = {1}}, sink);
        full += std::holds_alternative<BookRejected>(sink.events.back()) ? 1 : 0;
        if (engine.level_count() == kLimits.levels_max && id % 2 == 0) {
            engine.cancel(BookOrderId{id - 200}, sink);
        }
        sink.events.clear();
    }
    EXPECT_GT(full, 1000u);
    EXPECT_LE(engine.level_count(), kLimits.levels_max);
    EXPECT_LE(memory.held_most(), kLimits.levels_max * 64);
    EXPECT_GT(memory.held_most(), kLimits.levels_max * 16);
    EXPECT_LE(engine.memory_bytes(), 512u * 36 + 256u * 36 + 2048u * 8 + 1024u * 5 + 1024u);
}

TEST(MatchingMemory, NothingIsAllocatedOnceTheTablesHaveTheirSize) {
    MatchingEngine engine({.orders_max = 4096, .orders_expected = 4096});
    const std::size_t before = engine.memory_bytes();
    BookEventList sink;
    for (std::uint64_t id = 1; id <= 4096; ++id) {
        const auto price = static_cast<std::int64_t>(1000 + id % 97);
        engine.submit({.id = BookOrderId{id}, .price = {price}, .quantity = {1}}, sink);
    }
    EXPECT_EQ(engine.resting_orders(), 4096u);
    EXPECT_EQ(engine.memory_bytes(), before);
}

}  // namespace
}  // namespace interlock
