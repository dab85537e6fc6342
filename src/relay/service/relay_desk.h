// Where a gateway's frames enter the relay. Any thread; the work is done on the lane, in the order
// in which each socket's frames came.
#pragma once

#include <functional>
#include <vector>

#include "relay/service/relay_delivery.h"
#include "relay/wire/relay_frame.h"

namespace interlock {

class RelayDesk {
public:
    struct Outbound {
        RelaySessionPtr session;
        OutboundFrame frame;
        Timestamp received_at;
    };
    struct Parts {
        RelayLane& lane;
        RelayDelivery& delivery;
        Clock& clock;
        std::function<void(RelayTurn&, Outbound)> outbound;
    };
    explicit RelayDesk(Parts parts) : parts_(std::move(parts)) {}

    // False: the lane takes nothing; the socket is to be closed.
    bool open(const RelaySessionPtr& session);
    // `done` is called when the frame has been dealt with and may be counted as gone. False: the
    // lane is full; `done` is not called. An outbound is then answered at once and counts as done.
    bool take(const RelaySessionPtr& session, GatewayFrame frame, std::function<void()> done);
    // Frames that arrived together, none of them an outbound: they share a batch of the lane, and
    // so a commit. `done` is called once, after the last.
    bool take_all(
        const RelaySessionPtr& session,
        std::vector<GatewayFrame> frames,
        std::function<void()> done);
    // Answers a frame that could not be read but names its request.
    static void answer_problem(const RelaySessionPtr& session, const FrameProblem& problem);
    void closed(const RelaySessionPtr& session);

private:
    void deal_with(RelayTurn& turn, const RelaySessionPtr& session, const GatewayFrame& frame);

    Parts parts_;
};

}  // namespace interlock
