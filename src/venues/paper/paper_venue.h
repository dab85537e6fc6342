// The paper venue: the simulated exchange behind the ports Venue and MarketFeed, with a lock, a
// journal that outlives the process, and faults on demand.
//
//     auto venue = PaperVenue::open(std::make_unique<SyntheticMarket>(), clock,
//                                   {.journal_path = "paper.journal"});
//     venue->open_account(account, balances);   // Once; later calls change nothing.
//     venue->submit(request);
//
// Every call first moves the market to the clock's time. Whoever shows market facts calls advance()
// about every quarter of a second, because deep_facts() only tells what was last moved to.
//
// Any thread. One lock is held for the work in memory; waiting for the disk is done outside of it,
// so that many callers share one sync (ADR 0007).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "account/ports/venue_history.h"
#include "engine/ports/clock.h"
#include "venues/paper/paper_exchange.h"
#include "venues/paper/paper_faults.h"
#include "venues/paper/paper_journal.h"

namespace interlock {

// A journal beyond this is compacted.
inline constexpr std::int64_t kPaperJournalBytesMax = std::int64_t{64} << 20;
// Submits on their way under late_arrival; one more is lost for good, as though timed out.
inline constexpr std::size_t kPaperLateArrivalsMax = 1000;

struct PaperVenueOptions {
    PaperExchangeOptions exchange = {};
    std::string journal_path = {};  // Empty: nothing outlives the process.
    bool sync = true;               // One fdatasync before an answer leaves.
    std::int64_t journal_bytes_max = kPaperJournalBytesMax;
    std::uint64_t fault_seed = 1;
};

class PaperVenue final : public Venue, public MarketFeed, public VenueMemory {
public:
    // `clock` outlives the venue.
    static Result<std::unique_ptr<PaperVenue>> open(
        std::unique_ptr<MarketModel> model, Clock& clock, PaperVenueOptions options);
    ~PaperVenue() override;

    // Idempotent: an account that exists is left alone. Only `free` of a balance counts.
    Result<void> open_account(const VenueAccount& account, std::span<const VenueBalance> balances);
    // Moves the market to `now`. Long gaps are jumped over (kPaperStepsPerAdvanceMax).
    Result<void> advance(Timestamp now);

    Result<void> set_faults(std::vector<PaperFault> faults);
    std::vector<PaperFault> faults() const;

    Result<VenueAck> submit(const VenueOrderRequest& request) override;
    Result<VenueOrder> cancel(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<std::vector<VenueOrder>> cancel_all(const VenueAccount& account) override;
    Result<std::optional<VenueOrder>> find_order(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<VenueReport> report(const VenueAccount& account, std::int64_t fills_cursor) override;
    Result<std::vector<VenueFill>> fills_of(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<VenueHistory> history(const VenueAccount& account) override;
    Result<std::int64_t> clock_skew_ms() override;

    std::vector<Symbol> symbols() const override;
    MarketSet deep_facts(
        std::span<const Symbol> symbols, std::span<const Symbol> deep) const override;
    MarketSignals signals(
        const Symbol& symbol, std::span<const Timeframe> timeframes) const override;
    std::vector<Candle> candles(const Symbol& symbol, Timeframe timeframe) const override;
    std::optional<Decimal> bandwidth_quantile(
        const Symbol& symbol, const BandwidthWish& wish) const override;
    // The quotes of the moment; nothing for a symbol that does not exist.
    std::optional<MarketView> view_of(const Symbol& symbol) const;

private:
    struct LateArrival {
        Timestamp due;
        VenueOrderRequest request;
    };
    PaperVenue(std::unique_ptr<MarketModel> model, Clock& clock, PaperVenueOptions options);

    // Under the lock. move_to() also carries out what arrives late.
    Result<void> begin(const PaperFaultBox::Call& call);
    Result<void> move_to(Timestamp now);
    Result<void> commit();
    Result<VenueAck> submit_locked(const VenueOrderRequest& request);
    Timestamp fills_until(const VenueAccount& account) const;
    Duration venue_ahead() const;
    // Outside of the lock: makes durable what the answer rests on.
    Result<void> settle(std::int64_t size);
    std::int64_t journal_size() const { return journal_ == nullptr ? 0 : journal_->size(); }

    Clock& clock_;
    PaperVenueOptions options_;
    std::unique_ptr<MarketModel> model_;
    mutable std::mutex mutex_;  // Guards everything below.
    std::unique_ptr<PaperExchange> exchange_;
    std::unique_ptr<PaperJournal> journal_;
    PaperFaultBox faults_;
    std::deque<LateArrival> late_;  // By due time.
    std::int64_t compacted_size_ = 0;
    bool is_broken_ = false;  // The journal could not be written: memory is ahead of it.
};

}  // namespace interlock
