// From a service's answer to a face's reply.
#pragma once

#include <functional>

#include "engine/service/turn.h"
#include "host/face/operation.h"

namespace interlock {

inline std::function<void(Result<Answer>)> answer_to(ApiReplyTo reply) {
    return [reply = std::move(reply)](Result<Answer> answer) {
        if (!answer) {
            reply(std::unexpected(std::move(answer).error()));
            return;
        }
        ApiReply out;
        out.status = answer->http_status;
        out.body = std::move(answer->body);
        reply(std::move(out));
    };
}

}  // namespace interlock
