#include "engine/sink/recording_sink.h"

#include <array>
#include <utility>

#include "base/errors.h"

namespace interlock {

RecordingSink::RecordingSink(std::string socket_path, std::chrono::milliseconds timeout)
    : socket_path_(std::move(socket_path)), timeout_(timeout) {}

Result<EffectReceipt> RecordingSink::perform(const OutboxItem& effect) {
    bool sent = false;
    const Result<Json> json = exchange(
        SinkPerform{effect.effect_id, effect.tenant_id, effect.kind, effect.json, effect.delivery},
        sent);
    if (!json) {
        return sent ? std::unexpected(json.error())
                    : fail(
                          errors::effect_refused,
                          "Nothing was sent: " + json.error().message,
                          "Check that `interlock sink` runs, then decide again.");
    }
    TRY_ASSIGN(SinkAnswer answer, decode_sink_answer(*json));
    if (answer.status == SinkStatus::done) {
        return EffectReceipt{std::move(answer.receipt)};
    }
    if (answer.status == SinkStatus::refused) {
        return fail(errors::effect_refused, std::move(answer.message));
    }
    return fail(errors::unavailable, "The sink cannot tell: " + answer.message);
}

Result<std::optional<EffectReceipt>> RecordingSink::find(const EffectId& effect_id) {
    bool sent = false;
    TRY_ASSIGN(const Json json, exchange(SinkFind{effect_id}, sent));
    TRY_ASSIGN(SinkAnswer answer, decode_sink_answer(json));
    if (answer.status == SinkStatus::done) {
        return std::optional(EffectReceipt{std::move(answer.receipt)});
    }
    if (answer.status == SinkStatus::never_arrived) {
        return std::optional<EffectReceipt>();
    }
    return fail(errors::unavailable, "The sink cannot tell: " + answer.message);
}

Result<SinkCounts> RecordingSink::count() {
    bool sent = false;
    TRY_ASSIGN(const Json json, exchange(SinkCount{}, sent));
    return decode_sink_counts(json);
}

Result<Json> RecordingSink::exchange(const SinkRequest& request, bool& sent) {
    const SocketDeadline deadline = std::chrono::steady_clock::now() + timeout_;
    std::string line = to_text(encode(request));
    if (line.size() > kSinkLineBytesMax) {
        return fail(
            errors::body_too_large,
            "The request has " + std::to_string(line.size()) + " bytes; the sink takes " +
                std::to_string(kSinkLineBytesMax) + ".");
    }
    line += '\n';
    // A connection that broke, or on which an answer is still to come, is of no further use: the
    // next answer on it could be another request's.
    Result<void> went = send_line(line, deadline, sent);
    if (!went) {
        socket_.reset();
        return std::unexpected(std::move(went).error());
    }
    Result<std::string> answer = read_line(deadline);
    if (!answer) {
        socket_.reset();
        return std::unexpected(std::move(answer).error());
    }
    Result<Json> json = parse_json(*answer);
    if (!json) {
        socket_.reset();
    }
    return json;
}

Result<void> RecordingSink::send_line(
    const std::string& line, SocketDeadline deadline, bool& sent) {
    if (socket_ && socket_->is_stale()) {
        socket_.reset();
    }
    if (!socket_) {
        HttpTarget target;
        target.unix_socket_path = socket_path_;
        TRY_ASSIGN(socket_, ClientSocket::connect(target, deadline));
    }
    std::size_t written = 0;
    const Result<void> wrote = socket_->write_all(line, deadline, written);
    sent = written > 0;
    return wrote;
}

Result<std::string> RecordingSink::read_line(SocketDeadline deadline) {
    std::array<char, 4096> bytes;
    std::string line;
    while (line.size() <= kSinkLineBytesMax) {
        TRY_ASSIGN(const std::size_t got, socket_->read_some(bytes, deadline));
        if (got == 0) {
            return fail(errors::unavailable, "The sink went away before it answered.");
        }
        line.append(bytes.data(), got);
        if (line.back() == '\n') {
            line.pop_back();
            return line;
        }
    }
    return fail(errors::unavailable, "The sink's answer has no end.");
}

}  // namespace interlock
