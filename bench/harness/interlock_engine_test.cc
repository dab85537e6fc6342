// Tests of our engine behind the border of the public benchmark: what it reports is what the engine
// says by itself.
#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

#include "bench/harness/harness_abi.h"
#include "bench/matching_flow.h"
#include "market/rules/matching/matching_engine.h"

namespace interlock::harness {
namespace {

// A queue that is full every third time, as a slow reader makes it.
struct Queue {
    std::vector<Report> reports;
    int pushes = 0;

    static int push(void* queue, const Report* report) {
        auto& self = *static_cast<Queue*>(queue);
        if (++self.pushes % 3 == 0) {
            return 0;
        }
        self.reports.push_back(*report);
        return 1;
    }
};

constexpr Transport kTransport{
    .create = nullptr,
    .push = &Queue::push,
    .drain = nullptr,
    .flush = nullptr,
    .destroy = nullptr};

struct HarnessEngine : ::testing::Test {
    Queue queue;
    std::uint64_t sequence = 0;

    void SetUp() override { engine_init(1, &kTransport, &queue); }
    void TearDown() override { engine_shutdown(); }

    void submit(
        std::uint64_t id, Side side, std::int64_t price, std::uint32_t quantity, bool ioc = false) {
        NewOrder order{};
        order.id = id;
        order.sequence = ++sequence;
        order.price_ticks = price;
        order.quantity = quantity;
        order.side = side;
        order.is_ioc = ioc ? 1 : 0;
        engine_on_new_order(&order);
    }
    void cancel(std::uint64_t id) {
        const Cancel one{id, ++sequence};
        engine_on_cancel(&one);
    }
    void modify(std::uint64_t id, Side side, std::int64_t price, std::uint32_t quantity) {
        Modify one{};
        one.id = id;
        one.sequence = ++sequence;
        one.price_ticks = price;
        one.quantity = quantity;
        one.side = side;
        engine_on_modify(&one);
    }

    using Told = std::tuple<ReportKind, std::uint64_t, std::uint64_t, std::int64_t, std::uint32_t>;
    // Kind, sequence, order (of a trade: the maker), price, quantity.
    std::vector<Told> take() {
        std::vector<Told> told;
        for (const Report& one : std::exchange(queue.reports, {})) {
            const bool trade = one.kind == ReportKind::trade;
            told.emplace_back(
                one.kind,
                one.sequence,
                trade ? one.maker_id : one.id,
                one.price_ticks,
                one.quantity);
        }
        return told;
    }
};

using Told = HarnessEngine::Told;

TEST_F(HarnessEngine, AnOrderIsTakenAndThenItsTradesAreTold) {
    submit(1, Side::sell, 100, 5);
    submit(2, Side::buy, 101, 3);
    EXPECT_EQ(
        take(),
        (std::vector<Told>{
            {ReportKind::order_taken, 1, 1, 100, 5},
            {ReportKind::order_taken, 2, 2, 101, 3},
            {ReportKind::trade, 2, 1, 100, 3}}));
    EXPECT_EQ(engine_query_best_ask(), 100);
    EXPECT_EQ(engine_query_depth_at(100, 1), 2u);
    EXPECT_EQ(engine_query_best_bid(), std::numeric_limits<std::int64_t>::min());
}

TEST_F(HarnessEngine, WhatAnImmediateOrderLeavesOverIsCancelled) {
    submit(1, Side::buy, 100, 5);
    submit(2, Side::sell, 99, 8, true);
    EXPECT_EQ(
        take(),
        (std::vector<Told>{
            {ReportKind::order_taken, 1, 1, 100, 5},
            {ReportKind::order_taken, 2, 2, 99, 8},
            {ReportKind::trade, 2, 1, 100, 5},
            {ReportKind::cancelled, 2, 2, 99, 3}}));
    EXPECT_EQ(engine_query_best_ask(), std::numeric_limits<std::int64_t>::max());
}

TEST_F(HarnessEngine, AModifyIsConfirmedOnceAfterItsTrades) {
    submit(1, Side::sell, 100, 5);
    submit(2, Side::buy, 90, 5);
    take();
    modify(2, Side::buy, 100, 6);
    EXPECT_EQ(
        take(),
        (std::vector<Told>{
            {ReportKind::trade, 3, 1, 100, 5}, {ReportKind::modified, 3, 2, 100, 6}}));
    EXPECT_EQ(engine_query_best_bid(), 100);
    EXPECT_EQ(engine_query_depth_at(100, 0), 1u);
}

TEST_F(HarnessEngine, WhatDoesNotRestIsNeitherCancelledNorModified) {
    submit(1, Side::sell, 100, 5);
    cancel(1);
    take();
    cancel(1);
    modify(1, Side::sell, 101, 6);
    EXPECT_EQ(
        take(),
        (std::vector<Told>{
            {ReportKind::cancel_refused, 3, 1, 0, 0}, {ReportKind::modify_refused, 4, 1, 0, 0}}));
}

// What the engine itself says of a stream, as reports.
struct ToldSink {
    std::vector<Told> told;
    std::uint64_t sequence = 0;
    bool modifies = false;

    void tell(ReportKind kind, std::uint64_t id, Ticks price, Lots quantity) {
        told.emplace_back(
            kind, sequence, id, price.count, static_cast<std::uint32_t>(quantity.count));
    }
    void on(const BookAccepted& event) {
        if (!modifies) {
            tell(
                ReportKind::order_taken,
                static_cast<std::uint64_t>(event.id),
                event.price,
                event.quantity);
        }
    }
    void on(const BookTrade& event) {
        tell(
            ReportKind::trade,
            static_cast<std::uint64_t>(event.maker),
            event.price,
            event.quantity);
    }
    void on(const BookCancelled& event) {
        if (event.cause != BookCancelCause::replaced) {
            tell(
                ReportKind::cancelled,
                static_cast<std::uint64_t>(event.id),
                event.price,
                event.quantity);
        }
    }
    void on(const BookRejected& event) {
        tell(
            modifies ? ReportKind::modify_refused : ReportKind::cancel_refused,
            static_cast<std::uint64_t>(event.id),
            {},
            {});
    }
};

TEST_F(HarnessEngine, ALongStreamIsReportedAsTheEngineSaysItItself) {
    MatchingEngine engine({.orders_max = std::size_t{1} << 17});
    ToldSink sink;
    for (const MatchingCall& call : make_matching_flow(kMatchingMixes[0], 20'000, 3)) {
        const BookOrder& order = call.order;
        const auto id = static_cast<std::uint64_t>(order.id);
        const Side side = order.side == BookSide::buy ? Side::buy : Side::sell;
        const auto quantity = static_cast<std::uint32_t>(order.quantity.count);
        ++sink.sequence;
        sink.modifies = call.kind == MatchingCall::Kind::amend;
        if (call.kind == MatchingCall::Kind::cancel) {
            cancel(id);
            engine.cancel(order.id, sink);
        } else if (sink.modifies) {
            modify(id, side, order.price.count, quantity);
            const std::size_t before = sink.told.size();
            engine.amend({order.id, order.price, order.quantity}, sink);
            const bool refused = sink.told.size() > before &&
                                 std::get<0>(sink.told.back()) == ReportKind::modify_refused;
            if (!refused) {
                sink.tell(ReportKind::modified, id, order.price, order.quantity);
            }
        } else {
            const bool ioc = order.time_in_force == BookTimeInForce::ioc;
            submit(id, side, order.price.count, quantity, ioc);
            BookOrder plain{.id = order.id, .price = order.price, .quantity = order.quantity};
            plain.side = order.side;
            plain.time_in_force = order.time_in_force;
            engine.submit(plain, sink);
        }
    }
    const std::vector<Told> told = take();
    ASSERT_EQ(told.size(), sink.told.size());
    EXPECT_TRUE(told == sink.told);
    EXPECT_GT(engine.trades(), 100u);
}

}  // namespace
}  // namespace interlock::harness
