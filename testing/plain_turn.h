// A turn that does what a test says and must be committed.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "engine/service/turn.h"

namespace interlock {

inline TurnRequest plain_turn(std::function<void(Turn&)> act) {
    TurnRequest turn;
    turn.tenant_id = TenantId::trusted("demo");
    turn.principal = internal_principal("test");
    turn.function = "test";
    turn.decide = [act = std::move(act)](Turn& t) -> Result<TurnReply> {
        act(t);
        return Answer{200, "{}"};
    };
    turn.reply = [](const Result<Answer>& answer) { EXPECT_TRUE(answer.has_value()); };
    return turn;
}

}  // namespace interlock
