// A turn with a typed answer. Most decisions of the principal service end in a value that holds a
// secret and must never be stored as an answer text; and some are committed although the answer is
// no, because the failure itself has to be counted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "engine/service/turn_gate.h"

namespace interlock {

// The turn is committed and the caller is told no. (A decision that returns an Error instead is
// dropped with everything it staged.)
struct Refused {
    Error error;
};

template <class T>
using Outcome = std::variant<T, Refused>;

template <class T>
using TypedDecide = std::function<Result<Outcome<T>>(Turn&)>;

template <class T>
using TypedReply = std::function<void(Result<T>)>;

// Makes `request` a turn that runs `decide`. Its answer text stays empty: nothing of T is kept.
template <class T>
TurnRequest typed_turn(TurnRequest request, TypedDecide<T> decide, TypedReply<T> reply) {
    const auto made = std::make_shared<std::optional<Outcome<T>>>();
    request.decide = [made, decide = std::move(decide)](Turn& turn) -> Result<TurnReply> {
        made->reset();  // A conflict makes a turn run twice.
        TRY_ASSIGN(Outcome<T> outcome, decide(turn));
        made->emplace(std::move(outcome));
        return Answer{};
    };
    request.reply = [made, reply = std::move(reply)](Result<Answer> answer) {
        if (!answer) {
            reply(std::unexpected(std::move(answer).error()));
        } else if (auto* refused = std::get_if<Refused>(&**made)) {
            reply(std::unexpected(std::move(refused->error)));
        } else {
            reply(std::get<T>(std::move(**made)));
        }
    };
    return request;
}

}  // namespace interlock
