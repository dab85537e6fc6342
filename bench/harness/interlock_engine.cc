// Our matching engine behind the border of harness_abi.h, so that a public benchmark can drive it
// beside others: `build/release/lib/libinterlock_engine.so`. Matching and reporting happen on the
// calling thread.
#include <algorithm>
#include <limits>
#include <memory>

#include "bench/harness/harness_abi.h"
#include "market/rules/matching/matching_engine.h"

namespace interlock::harness {
namespace {

constexpr MatchingLimits kLimits{.orders_max = std::size_t{1} << 17};

BookSide side_of(Side side) {
    return side == Side::buy ? BookSide::buy : BookSide::sell;
}

// What one message causes, as reports. The engine says `accepted` first, and `cancelled` first of
// all for a modify; what it says of a rest stands at the end.
class Reporter {
public:
    Reporter(const Transport& transport, void* queue) : transport_(transport), queue_(queue) {}

    void begin(ReportKind taken, ReportKind refused, std::uint64_t sequence, std::uint64_t id) {
        taken_ = taken;
        refused_ = refused;
        report_ = Report{};
        report_.sequence = sequence;
        report_.id = id;
        accepted_ = {};
    }

    void on(const BookAccepted& event) {
        // A modify is confirmed when its trades are known: confirm().
        if (taken_ == ReportKind::order_taken) {
            send(ReportKind::order_taken, event.side, event.price, event.quantity);
        }
        accepted_ = event;
    }
    void on(const BookTrade& event) {
        Report trade{};
        trade.kind = ReportKind::trade;
        trade.sequence = report_.sequence;
        trade.price_ticks = event.price.count;
        trade.quantity = static_cast<std::uint32_t>(event.quantity.count);
        trade.maker_id = static_cast<std::uint64_t>(event.maker);
        trade.taker_id = static_cast<std::uint64_t>(event.taker);
        push(trade);
    }
    void on(const BookCancelled& event) {
        if (event.cause != BookCancelCause::replaced) {
            send(ReportKind::cancelled, event.side, event.price, event.quantity);
        }
    }
    void on(const BookRejected&) { send(refused_, BookSide::buy, {}, {}); }

    // The end of a modify that was taken.
    void confirm() {
        if (accepted_.id == BookOrderId{report_.id}) {
            send(ReportKind::modified, accepted_.side, accepted_.price, accepted_.quantity);
        }
    }

private:
    void send(ReportKind kind, BookSide side, Ticks price, Lots quantity) {
        report_.kind = kind;
        report_.side = side == BookSide::buy ? Side::buy : Side::sell;
        report_.price_ticks = price.count;
        report_.quantity = static_cast<std::uint32_t>(quantity.count);
        push(report_);
    }
    void push(const Report& report) {
        while (transport_.push(queue_, &report) == 0) {
        }
    }

    const Transport& transport_;
    void* queue_;
    ReportKind taken_ = ReportKind::order_taken;
    ReportKind refused_ = ReportKind::cancel_refused;
    Report report_{};
    BookAccepted accepted_;
};

struct Loaded {
    Loaded(const Transport& transport, void* queue) : engine(kLimits), reporter(transport, queue) {}

    MatchingEngine engine;
    Reporter reporter;
};

// The border has no handle to carry it.
std::unique_ptr<Loaded>& loaded() {
    static std::unique_ptr<Loaded> one;
    return one;
}

}  // namespace

void engine_init(std::uint64_t, const Transport* transport, void* queue) {
    loaded() = std::make_unique<Loaded>(*transport, queue);
}

void engine_shutdown() {
    loaded().reset();
}

void engine_on_new_order(const NewOrder* order) {
    auto& [engine, reporter] = *loaded();
    reporter.begin(ReportKind::order_taken, ReportKind::cancel_refused, order->sequence, order->id);
    engine.submit(
        {.id = BookOrderId{order->id},
         .price = {order->price_ticks},
         .quantity = {order->quantity},
         .side = side_of(order->side),
         .time_in_force = order->is_ioc != 0 ? BookTimeInForce::ioc : BookTimeInForce::gtc},
        reporter);
}

void engine_on_cancel(const Cancel* cancel) {
    auto& [engine, reporter] = *loaded();
    reporter.begin(ReportKind::cancelled, ReportKind::cancel_refused, cancel->sequence, cancel->id);
    engine.cancel(BookOrderId{cancel->id}, reporter);
}

void engine_on_modify(const Modify* modify) {
    auto& [engine, reporter] = *loaded();
    reporter.begin(ReportKind::modified, ReportKind::modify_refused, modify->sequence, modify->id);
    engine.amend(
        {.id = BookOrderId{modify->id},
         .price = {modify->price_ticks},
         .quantity = {modify->quantity}},
        reporter);
    reporter.confirm();
}

void engine_flush() {}

std::int64_t engine_query_best_bid() {
    const auto best = loaded()->engine.best(BookSide::buy);
    return best ? best->price.count : std::numeric_limits<std::int64_t>::min();
}

std::int64_t engine_query_best_ask() {
    const auto best = loaded()->engine.best(BookSide::sell);
    return best ? best->price.count : std::numeric_limits<std::int64_t>::max();
}

std::uint64_t engine_query_depth_at(std::int64_t price_ticks, std::uint8_t side) {
    const auto place = side == 0 ? BookSide::buy : BookSide::sell;
    return static_cast<std::uint64_t>(loaded()->engine.depth_at(place, {price_ticks}).count);
}

}  // namespace interlock::harness
