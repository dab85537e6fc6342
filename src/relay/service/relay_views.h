// What an operator is shown of the relay, and the few things he does to single messages: dead
// letters, sends, interrupts. Any thread; answered from the lane. Texts of messages are never
// shown: ids, sizes, times and reasons are.
#pragma once

#include <string>
#include <vector>

#include "relay/service/relay_ask.h"
#include "relay/service/relay_delivery.h"
#include "relay/service/relay_hearing.h"
#include "relay/service/relay_inbound.h"
#include "relay/service/relay_outbound.h"
#include "relay/service/relay_wake.h"

namespace interlock {

inline constexpr std::int64_t kRelayListMax = 500;  // Rows of one answer.
inline constexpr std::int64_t kOlderThanSecondsMax = std::int64_t{366} * 24 * 60 * 60;

class RelayViews {
public:
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        RelayDelivery& delivery;
        RelayInbound& inbound;
        RelayOutbound& outbound;
        RelayWake& wake;
        RelayFiles& files;
        RelayHearing& hearing;
    };
    explicit RelayViews(Parts parts) : parts_(std::move(parts)) {}

    void status(RelayReply reply);
    void instances(TenantId tenant_id, RelayReply reply);  // Empty: of all tenants.
    // What waits for an instance, oldest first, after `after` (a buffer id).
    void buffer(std::string instance_id, std::int64_t after, RelayReply reply);
    // Of an instance, or of all.
    void dead_letters(std::string instance_id, RelayReply reply);
    // One that is named by its number is not_found when there is none; of many, the answer says how
    // many were done and how many are left for the next call.
    void requeue(RelayDelivery::Letters letters, RelayReply reply);
    void discard(RelayDelivery::Letters letters, RelayReply reply);
    // Why an event went where it went. `event` is its key, "platform/bot/id".
    void why(std::string event, RelayReply reply);
    void events(std::int64_t count_max, RelayReply reply);  // Newest first.
    void outbounds(OutboundFilter filter, RelayReply reply);
    void replay(std::string outbound_id, std::string principal, RelayReply reply);
    void interrupt(
        TenantId tenant_id, std::string session_key, std::string principal, RelayReply reply);

    // On the lane: numbers for /metrics by platform and instance, in Prometheus' text form.
    std::string metrics_text() const;

private:
    Json status_json() const;

    Parts parts_;
};

}  // namespace interlock
