// What can go wrong at a venue, switched on at run time: for tests, drills and the simulator.
//
// Faults are drawn from a seeded stream, so that a run can be repeated. The exchange behind them
// stays truthful: a fault changes what is heard of it, or whether it hears.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "account/wire/venue_order.h"
#include "base/time.h"

namespace interlock {

enum class PaperFaultKind {
    reject,              // A submit is refused with `fault_injected`; nothing happens.
    time_out,            // A submit times out and never arrives.
    lose_answer,         // A submit is carried out and times out all the same.
    late_arrival,        // A submit times out and is carried out `delay` later.
    late_fill,           // Fills are told `delay` after they happened; states and balances at once.
    duplicate_report,    // Every fill of a report is told twice.
    out_of_order_fills,  // The fills of a report come newest first.
    disconnect,          // Every call fails as unreachable; nothing arrives.
    clock_skew,          // The venue's clock is ahead by `delay`; behind when it is negative.
    cancel_lost,         // A cancel times out and never arrives.
    cancel_answer_lost,  // A cancel is carried out and times out all the same.
};
std::string_view to_word(PaperFaultKind kind);
std::optional<PaperFaultKind> parse_paper_fault(std::string_view word);

struct PaperFault {
    PaperFaultKind kind = PaperFaultKind::time_out;
    std::optional<VenueAccount> account = std::nullopt;  // Nothing: every account.
    std::optional<Symbol> symbol = std::nullopt;         // Nothing: every market.
    std::int64_t chance_ppm = 1'000'000;                 // Out of a million calls.
    std::int64_t times_max = -1;                         // Then it is over; negative: never.
    Duration delay = {};
};

inline constexpr std::size_t kPaperFaultsMax = 64;

// Draws the faults of each call. Not thread-safe; the venue holds its lock.
class PaperFaultBox {
public:
    explicit PaperFaultBox(std::uint64_t seed) : seed_(seed) {}

    // Replaces all; more than kPaperFaultsMax are refused with out_of_range.
    Result<void> set(std::vector<PaperFault> faults);
    const std::vector<PaperFault>& all() const { return faults_; }
    bool empty() const { return faults_.empty(); }

    struct Call {
        const VenueAccount* account = nullptr;  // Null for a call that names none.
        const Symbol* symbol = nullptr;
    };
    // The fault of this kind that strikes now; counts against its times_max.
    std::optional<PaperFault> draw(PaperFaultKind kind, const Call& call);
    // The fault of this kind that holds whenever it applies; chance and count do not matter.
    const PaperFault* standing(PaperFaultKind kind, const Call& call) const;

private:
    static bool applies(const PaperFault& fault, PaperFaultKind kind, const Call& call);

    std::uint64_t seed_;
    std::uint64_t draws_ = 0;
    std::vector<PaperFault> faults_;
};

}  // namespace interlock
