// The venues as the place where the loop's effects go: orders, cancels, cancel-all and questions.
// Everything else is handed to the sink behind (probes).
//
// An order whose answer was lost is looked for by its client id and never sent again (I4). That it
// never arrived is believed only with the proof of agent-loop.md#verification.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "account/ports/venue.h"
#include "account/rules/order_record.h"
#include "engine/ports/clock.h"
#include "engine/ports/effect_sink.h"

namespace interlock {

class VenueSink final : public EffectSink {
public:
    struct Parts {
        std::map<TradeMode, Venue*> venues;
        EffectSink& behind;
        Clock& clock;
        // Accounts that exist, for cancel-all; any thread.
        std::function<std::vector<VenueAccount>()> accounts;
        // Hears of every order and cancel before it leaves; for whoever counts a venue's requests.
        std::function<void(const OutboxItem&)> on_request = nullptr;
    };
    explicit VenueSink(Parts parts) : parts_(std::move(parts)) {}

    Result<EffectReceipt> perform(const OutboxItem& effect) override;
    Result<std::optional<EffectReceipt>> find(const EffectId& effect_id) override;
    Result<std::optional<EffectReceipt>> settle(const OutboxItem& effect) override;

private:
    Result<Venue*> venue_of(TradeMode mode) const;
    Result<EffectReceipt> submit(const Json& json);
    Result<EffectReceipt> cancel(const Json& json);
    Result<EffectReceipt> cancel_all(const OutboxItem& effect);
    Result<EffectReceipt> report(const Json& json);
    Result<std::optional<EffectReceipt>> settle_order(const OutboxItem& effect);

    Parts parts_;
    // Orders that were asked for and not found yet; the outbox thread's own. No more than there are
    // unknown effects.
    std::map<EffectId, OrderRecord> sought_;
};

}  // namespace interlock
