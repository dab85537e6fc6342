// The `/relay` WebSocket: lets gateways in or tells them why not, cuts what arrives into frames and
// hands them to the desk. It decides nothing. docs/contracts/relay-connector.md#refused-dials
//
// Every handler runs on a network thread and does not block.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "net/head_verdict.h"
#include "net/http_message.h"
#include "relay/service/relay_desk.h"

namespace interlock {

// Frames of one socket that wait for the lane. At this many its connection is not read any further
// until half of them are done.
inline constexpr int kSocketFramesMax = 256;

// Says which of many equal happenings get a line in the log: the first ones, then one in a hundred,
// so that a gateway that dials without end is seen and does not fill the disk.
class SparseLines {
public:
    static constexpr std::uint64_t kFirst = 20;
    static constexpr std::uint64_t kThenEvery = 100;
    // How many there were so far; nothing when this one has no line.
    std::optional<std::uint64_t> take() {
        const std::uint64_t count = count_.fetch_add(1) + 1;
        return count <= kFirst || count % kThenEvery == 0 ? std::optional(count) : std::nullopt;
    }

private:
    std::atomic<std::uint64_t> count_{0};
};

// What became of a credential.
struct RelayDial {
    enum class Verdict {
        accepted,
        expired,      // Known, and only has to dial again: HTTP 401.
        wrong,        // Absent, wrong or revoked: close 4401 after the upgrade.
        unavailable,  // Cannot be told now: HTTP 503.
    };
    Verdict verdict = Verdict::unavailable;
    RelayCaller caller;
};

class RelayFace {
public:
    struct Parts {
        RelayDesk& desk;
        std::function<RelayDial(std::string_view bearer)> authenticate;
        std::function<bool()> is_ready;
        // "https://chat.example": who dialled this host meant this, also where a proxy ends TLS.
        std::string public_url = {};
    };
    explicit RelayFace(Parts parts) : parts_(std::move(parts)) {}

    // `/relay` itself, and every WebSocket upgrade to another path.
    static bool takes(const HttpRequest& request);
    HeadVerdict judge(const HttpRequest& head) const;
    void handle(const HttpRequest& request, const HttpResponderPtr& responder);

    struct Counters {
        std::atomic<std::uint64_t> accepted{0};
        std::atomic<std::uint64_t> refused{0};
        std::atomic<std::uint64_t> bad_frames{0};
    };
    const Counters& counters() const { return counters_; }

private:
    void refuse(const HttpResponderPtr& responder, int status, std::string_view sentence);
    void log_refusal(const HttpRequest& request, std::string_view why);

    Parts parts_;
    Counters counters_;
    SparseLines refusals_;
    std::shared_ptr<SparseLines> fences_ = std::make_shared<SparseLines>();
};

// The token of `Authorization: Bearer`; empty when there is none, or more than one such header.
std::string bearer_of(const HttpRequest& request);

// The address by which the sender of a request calls us: scheme and Host, or `public_url` when that
// has the same host. Empty when the request names no host.
std::string dialled_base(const HttpRequest& request, std::string_view public_url);

}  // namespace interlock
