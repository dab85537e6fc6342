// Seeded streams of orders for measuring the matching engine: a mid price that stands still,
// wanders, swings or crashes, and orders, cancels, amends and takers around it. The same mix,
// length and seed give the same stream on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "market/rules/matching/book_order.h"

namespace interlock {

enum class FlowPath : std::uint8_t { still, wandering, crashing };

struct MatchingMix {
    std::string_view name;
    FlowPath path = FlowPath::still;
    std::int64_t step_ticks = 0;       // How far a wandering mid may go at once.
    std::int64_t depth_ticks = 0;      // Half of all orders rest within this distance of the mid.
    std::size_t open_orders = 0;       // How many the senders try to keep open.
    std::uint32_t takers_percent = 0;  // Of new orders; half ioc, half market.
    std::uint32_t amends_percent = 0;  // Of all calls.
};

inline constexpr std::array<MatchingMix, 5> kMatchingMixes{{
    {"normal", FlowPath::wandering, 1, 8, 5'000, 10, 10},
    {"static", FlowPath::still, 0, 12, 40'000, 1, 10},
    {"swing", FlowPath::wandering, 24, 40, 5'000, 15, 10},
    {"flash-crash", FlowPath::crashing, 12, 60, 2'000, 25, 10},
    {"swing-40", FlowPath::wandering, 40, 40, 5'000, 15, 10},
}};

// Nothing for a name that is not in the table.
std::optional<MatchingMix> matching_mix(std::string_view name);

struct MatchingCall {
    enum class Kind : std::uint8_t { submit, cancel, amend };
    BookOrder order;
    Kind kind = Kind::submit;
};

std::vector<MatchingCall> make_matching_flow(
    const MatchingMix& mix, std::size_t calls, std::uint64_t seed);

}  // namespace interlock
