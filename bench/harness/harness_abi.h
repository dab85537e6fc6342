// What crosses the border between our engine and a benchmark program that loads matching engines as
// shared libraries: three kinds of message in, one kind of report out, through a queue that the
// program brings. The layout is that of flash1-dev/matching-engine-benchmark at 41656c8; the names
// and words are ours. The functions themselves are named as that program looks them up.
#pragma once

#include <cstdint>

namespace interlock::harness {

enum class Side : std::uint8_t { buy = 0, sell = 1 };

struct NewOrder {
    std::uint64_t id;
    std::uint64_t sequence;
    std::int64_t price_ticks;
    std::uint32_t quantity;
    Side side;
    std::uint8_t is_ioc;
    std::uint8_t unused[2];
};

struct Cancel {
    std::uint64_t id;
    std::uint64_t sequence;
};

// Cancels and enters anew: the place in the queue is lost.
struct Modify {
    std::uint64_t id;
    std::uint64_t sequence;
    std::int64_t price_ticks;
    std::uint32_t quantity;
    Side side;
    std::uint8_t unused[3];
};

enum class ReportKind : std::uint8_t {
    order_taken = 0,
    trade = 1,
    cancelled = 2,  // On request, or what an immediate-or-cancel order left over.
    modified = 3,
    cancel_refused = 4,
    modify_refused = 5,
};

struct Report {
    ReportKind kind;
    Side side;
    std::uint8_t unused[6];
    std::uint64_t sequence;    // Of the message that caused it.
    std::uint64_t id;          // The order it is about; 0 for a trade.
    std::int64_t price_ticks;  // Of a trade: the resting order's.
    std::uint32_t quantity;
    std::uint32_t unused_too;
    std::uint64_t maker_id;  // Trades only.
    std::uint64_t taker_id;
    std::uint64_t unused_at_last;
};

static_assert(sizeof(NewOrder) == 32 && sizeof(Modify) == 32, "as the loading program has them");
static_assert(sizeof(Cancel) == 16 && sizeof(Report) == 64, "as the loading program has them");

// The queue of reports; the engine only pushes.
struct Transport {
    void* (*create)(std::uint32_t capacity);
    int (*push)(void* queue, const Report* report);  // 0: full, to be tried again.
    std::uint32_t (*drain)(void* queue, Report* into, std::uint32_t count_max);
    void (*flush)(void* queue);
    void (*destroy)(void* queue);
};

extern "C" {
void engine_init(std::uint64_t seed, const Transport* transport, void* queue);
void engine_shutdown();
void engine_on_new_order(const NewOrder* order);
void engine_on_cancel(const Cancel* cancel);
void engine_on_modify(const Modify* modify);
// Everything is matched and reported when a call returns, so nothing is left to do.
void engine_flush();
// The lowest and the highest 64-bit number for an empty side.
std::int64_t engine_query_best_bid();
std::int64_t engine_query_best_ask();
std::uint64_t engine_query_depth_at(std::int64_t price_ticks, std::uint8_t side);
}

}  // namespace interlock::harness
