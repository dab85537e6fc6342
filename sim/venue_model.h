// The venue of a simulated world: the production paper exchange on the simulated clock, which
// outlives every crash of the server, with a look-out in front of it.
//
// Whatever the server says to the venue passes here: orders are shown to the checkers before they
// go on, a server whose power is off is not heard, and the mistakes that lie between the plane and
// its venue are made here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/plants.h"
#include "sim/power.h"
#include "sim/seeded.h"
#include "venues/paper/paper_venue.h"

namespace interlock::sim {

class VenueModel final : public Venue {
public:
    static constexpr std::int64_t kDeposit = 10'000;

    struct Parts {
        std::uint64_t seed = 0;
        Plant plant = Plant::none;
        const Power& power;
        Clock& clock;
    };
    explicit VenueModel(Parts parts);

    // Every order on its way to the venue, before any fault of the venue.
    std::function<void(const VenueOrderRequest&)> on_submit;

    PaperVenue& paper() { return *paper_; }
    const PaperVenue& paper() const { return *paper_; }

    // Opens the account whatever faults are on; later calls change nothing.
    void open_account(const VenueAccount& account);
    // One or two faults, replacing those of before.
    std::string trouble(SeededRandom& random);
    void heal();
    // The venue as it is, whatever faults are on: an account's open orders, balances and all fills.
    Result<VenueReport> truth(const VenueAccount& account);
    // Likewise, the trades since `cursor`, which moves on.
    std::vector<VenueFill> new_fills(const VenueAccount& account, std::int64_t& cursor);
    // Likewise, only what is open; empty for an account the venue does not know.
    std::vector<VenueOrder> open_orders(const VenueAccount& account);

    // What the venue said of an order so far, for the proof of agent-loop.md#verification.
    struct Word {
        bool was_sent = false;
        bool was_refused = false;  // In so many words.
        int absences = 0;          // Questions that did not find it.
    };
    using OrderName = std::pair<VenueAccount, OrderClientId>;
    Word word_of(const VenueAccount& account, const OrderClientId& id) const;

    Result<VenueAck> submit(const VenueOrderRequest& request) override;
    Result<VenueOrder> cancel(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<std::vector<VenueOrder>> cancel_all(const VenueAccount& account) override;
    Result<std::optional<VenueOrder>> find_order(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<VenueReport> report(const VenueAccount& account, std::int64_t fills_cursor) override;
    Result<std::vector<VenueFill>> fills_of(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<std::int64_t> clock_skew_ms() override;

private:
    Result<VenueAck> send(const VenueOrderRequest& request);
    VenueOrderRequest spoil(VenueOrderRequest request) const;
    void spoil(std::vector<VenueFill>& fills);

    const Parts parts_;
    std::unique_ptr<PaperVenue> paper_;
    std::map<OrderName, Word> words_;
    std::map<VenueAccount, OrderClientId> last_id_;  // For the plant reuse_order_id.
    std::uint64_t submits_ = 0;
};

}  // namespace interlock::sim
