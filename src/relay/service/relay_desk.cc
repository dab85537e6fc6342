#include "relay/service/relay_desk.h"

#include <utility>

#include "base/match.h"

namespace interlock {
namespace {

std::string result_line(std::string request_id, OutboundResult result) {
    return encode_line(
        ConnectorFrame(OutboundResultFrame{std::move(request_id), std::move(result)}));
}

OutboundResult failure(std::string code, std::string error) {
    OutboundResult result;
    result.code = std::move(code);
    result.error = std::move(error);
    return result;
}

}  // namespace

bool RelayDesk::open(const RelaySessionPtr& session) {
    return parts_.lane.submit_internal(
        [this, session](RelayTurn& turn) { parts_.delivery.open(turn, session); });
}

void RelayDesk::closed(const RelaySessionPtr& session) {
    // A lane that takes nothing has stopped or is lost; its queues begin anew after a restart.
    parts_.lane.submit_internal(
        [this, session](RelayTurn& turn) { parts_.delivery.closed(turn, session); });
}

bool RelayDesk::take(
    const RelaySessionPtr& session, GatewayFrame frame, std::function<void()> done) {
    if (auto* outbound = std::get_if<OutboundFrame>(&frame)) {
        const std::string request_id = outbound->request_id;
        Outbound call{session, std::move(*outbound), parts_.clock.now()};
        const bool is_taken =
            parts_.lane.submit([this, call = std::move(call), done](RelayTurn& turn) {
                parts_.outbound(turn, call);
                done();
            });
        if (!is_taken) {
            session->socket->send_urgent(result_line(
                request_id,
                failure("overloaded", "The connector is busy; nothing was sent. Try again.")));
            done();
        }
        return true;
    }
    std::vector<GatewayFrame> frames;
    frames.push_back(std::move(frame));
    return take_all(session, std::move(frames), std::move(done));
}

bool RelayDesk::take_all(
    const RelaySessionPtr& session, std::vector<GatewayFrame> frames, std::function<void()> done) {
    return parts_.lane.submit_internal(
        [this, session, frames = std::move(frames), done = std::move(done)](RelayTurn& turn) {
            for (const GatewayFrame& frame : frames) {
                deal_with(turn, session, frame);
            }
            done();
        });
}

void RelayDesk::deal_with(
    RelayTurn& turn, const RelaySessionPtr& session, const GatewayFrame& frame) {
    match(
        frame,
        [&](const HelloFrame& hello) { parts_.delivery.hello(turn, session, hello); },
        [&](const InboundAckFrame& ack) { parts_.delivery.acknowledge(turn, session, ack); },
        [&](const GoingIdleFrame&) { parts_.delivery.going_idle(turn, session); },
        [&](const InterruptFrame& stop) { parts_.delivery.interrupt(turn, session, stop); },
        [&](const OutboundFrame&) {},  // Goes another way, see take().
        [&](const IgnoredFrame&) {});
}

void RelayDesk::answer_problem(const RelaySessionPtr& session, const FrameProblem& problem) {
    if (!problem.request_id.empty()) {
        session->socket->send_urgent(
            result_line(problem.request_id, failure("invalid_frame", problem.message)));
    }
}

}  // namespace interlock
