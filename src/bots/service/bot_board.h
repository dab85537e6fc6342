// What everybody may see of the bots without asking the engine: their committed state, the progress
// of a hydration, the last pulse, and when the next one is due. Reads of the document's status
// endpoints are answered from here, so that a flood of them costs no turn.
//
// Pulses are due by monotonic time, so that a wall clock that steps neither freezes nor doubles
// them.
//
// Any thread; the lock is one of ADR 0007's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/venue_order.h"
#include "bots/rules/bot_record.h"

namespace interlock {

inline constexpr Duration kPulseEvery = Duration::of_seconds(10);
// After a pulse whose facts had moved before they could be used.
inline constexpr Duration kPulseAgain = Duration::of_seconds(1);
// A moment of the monotonic clock, so much after another.
constexpr Duration later(Duration at, Duration span) {
    return {at.microseconds + span.microseconds};
}

// The steps of hydration (bot.md#2-states), in order. Open orders come with the balances, in one
// answer of the venue.
inline constexpr std::array<std::string_view, 5> kHydrationWords{
    "permissions", "filters", "balances", "candles", "trades"};

enum class HydrationStep { permissions, filters, balances, candles, trades };

// Endpoints whose texts are kept.
inline constexpr std::string_view kPositionsText = "positions";
inline constexpr std::string_view kExchangeText = "exchange_status";
inline constexpr std::string_view kLogsText = "logs";
inline constexpr std::string_view kConfigText = "config";

struct BotView {
    BotRecord record;
    std::optional<HydrationStep> hydration;  // Where it is; nothing: none is under way.
    std::optional<Timestamp> last_pulse_at;
    std::int64_t pulses = 0;
    std::int64_t pulses_late = 0;       // Began a whole period after they were due.
    std::vector<std::string> warnings;  // Why markets are not quoted, as of the last look.
    std::optional<Blocked> held;        // All are held up; told by the first.
    std::vector<std::string> smaller;   // Why markets that are quoted get smaller orders.
    std::optional<VenueReport> report;  // As last fetched, without its fills.
    std::optional<Timestamp> fetched_at;
    Duration shown_at;  // Monotonic: when `report` came.
};

class BotBoard {
public:
    // Null: this tenant has no bot yet.
    std::shared_ptr<const BotView> view(const TenantId& tenant_id) const;
    std::size_t size() const;
    std::size_t running() const;
    std::size_t stalled() const;

    // Every Duration named `now` or `…_at` here is Clock::monotonic().
    struct Shown {
        const BotRecord& record;
        std::vector<std::string> warnings;
        Duration now;
    };
    // After a commit.
    void show(const TenantId& tenant_id, Shown shown);
    // One hydration of a bot at a time; false: one is under way.
    bool begin_hydration(const TenantId& tenant_id);
    void show_hydration(const TenantId& tenant_id, HydrationStep step);
    // `done_at`: everything was read anew, trade on at once; nothing: it failed.
    void end_hydration(const TenantId& tenant_id, std::optional<Duration> done_at);
    struct Reported {
        VenueReport report;
        Timestamp fetched_at;
        Duration now;
    };
    void show_report(const TenantId& tenant_id, Reported reported);

    // The pulse clock of a bot that runs.
    struct Due {
        TenantId tenant_id;
        Duration due_at;
        std::size_t symbols = 0;
        bool needs_hydration = false;  // The process is new, or the venue was away.
        bool is_new = false;           // Was not read in this life of the process.
    };
    // What is due and not under way, longest waiting first; each counts as under way from now on.
    std::vector<Due> take_due(Duration now, std::size_t count_max);
    // Gives it back untouched: there was no budget for it.
    void put_back(const Due& due, Duration not_before);
    struct Done {
        Duration next_at;
        bool is_fresh = false;                   // The venue's news went into the books.
        bool pulsed = false;                     // The strategies looked as well.
        std::vector<std::string> warnings = {};  // Why markets of it are not quoted.
        std::optional<Blocked> held = {};        // When that is all of them.
        std::vector<std::string> smaller = {};   // Why others get smaller orders.
        bool needs_hydration = false;
    };
    struct Moment {
        Timestamp at;  // For people.
        Duration now;
    };
    void finish(const Due& due, const Moment& moment, const Done& done);
    // Whether pulses look after this tenant's account, so that nobody else has to.
    bool is_pulsing(const TenantId& tenant_id) const;

    // After a start of the process: bots pulse at times spread by their names over the period, not
    // all at once, and are hydrated before they trade.
    void spread(const TenantId& tenant_id, Duration now);

    // Texts of reads that change rarely, by tenant and endpoint; good while `version` is.
    std::optional<std::string> text(
        const TenantId& tenant_id, std::string_view endpoint, std::int64_t version) const;
    void keep_text(
        const TenantId& tenant_id,
        std::string_view endpoint,
        std::int64_t version,
        std::string text);

    void forget_text(const TenantId& tenant_id, std::string_view endpoint);

private:
    struct Kept {
        std::int64_t version = 0;
        std::string text;
    };
    struct Entry {
        std::shared_ptr<const BotView> view = std::make_shared<const BotView>();
        std::optional<Duration> due_at;  // Nothing: does not pulse.
        bool is_under_way = false;
        bool needs_hydration = true;
        bool is_new = true;
        std::map<std::string, Kept, std::less<>> texts;
    };
    // Readers keep the view they were given; a change makes a new one.
    template <class Change>
    static void change(Entry& entry, Change apply) {
        auto next = std::make_shared<BotView>(*entry.view);
        apply(*next);
        entry.view = std::move(next);
    }

    mutable std::mutex mutex_;
    std::map<TenantId, Entry> entries_;
};

}  // namespace interlock
