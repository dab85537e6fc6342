// Asks the lane for something from any thread; the answer comes only once it is durable.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/json.h"
#include "relay/service/relay_lane.h"

namespace interlock {

// Called once, from the lane or from whoever asked.
using RelayReply = std::function<void(Result<Json>)>;
// Checks first and then changes: an error means that nothing was added to the turn.
using RelayDecide = std::function<Result<Json>(RelayTurn&)>;

// Replies when it is told to. When the work that should have told it is dropped (a full queue, a
// lost lane), its destructor tells the caller to come again.
class RelayAnswer {
public:
    explicit RelayAnswer(RelayReply reply) : reply_(std::move(reply)) {}
    ~RelayAnswer() {
        if (reply_) {
            give(unavailable());
        }
    }
    RelayAnswer(const RelayAnswer&) = delete;
    RelayAnswer& operator=(const RelayAnswer&) = delete;

    void give(Result<Json> answer) { std::exchange(reply_, nullptr)(std::move(answer)); }

    static std::unexpected<Error> unavailable() {
        auto refusal = fail(
            errors::unavailable,
            "The relay cannot take this now; nothing was changed.",
            "Wait for Retry-After seconds, then send the same request again.");
        refusal.error().retry_after_seconds = 1;
        return refusal;
    }

private:
    RelayReply reply_;
};
using RelayAnswerPtr = std::shared_ptr<RelayAnswer>;

// Any thread. An error is told after the commit too: it may rest on what the batch changes.
inline void ask_lane(RelayLane& lane, RelayDecide decide, RelayAnswerPtr answer) {
    lane.submit([decide = std::move(decide), answer = std::move(answer)](RelayTurn& turn) {
        Result<Json> decided = decide(turn);
        turn.after([answer, decided = std::move(decided)](bool is_committed) {
            answer->give(is_committed ? decided : RelayAnswer::unavailable());
        });
    });
}
inline void ask_lane(RelayLane& lane, RelayDecide decide, RelayReply reply) {
    ask_lane(lane, std::move(decide), std::make_shared<RelayAnswer>(std::move(reply)));
}

}  // namespace interlock
