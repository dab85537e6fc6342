// The bridge's way to the server: messages go out by POST, whatever comes back is handed on.
//
// McpBridgeSession is shared by all threads of the bridge; it knows the session and opens a new one
// when the server has forgotten it (a restart, a long pause), so that a client on stdio, which
// knows nothing of sessions, need not care. McpBridgeLink is one thread's connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "app/mcp/json_rpc.h"
#include "app/mcp/sse_reader.h"
#include "base/secret_string.h"
#include "net/http_client.h"

namespace interlock {

// A call may wait for an effect to come back; a server that is silent for longer has lost it.
inline constexpr std::chrono::milliseconds kBridgeCallSilenceMax{600'000};
inline constexpr std::chrono::milliseconds kBridgeStreamSilenceMax{20'000};
inline constexpr std::size_t kBridgeCancelledMax = 256;  // Remembered; then the oldest is not.
inline constexpr int kBridgeResumesMax = 5;              // For one call whose stream broke.

struct McpSessionCard {
    std::string id;       // Empty: none yet.
    std::string version;  // Protocol version, as agreed.
    std::uint64_t generation = 0;
};

class McpBridgeSession {
public:
    McpBridgeSession(HttpTarget target, SecretString access_key)
        : target_(std::move(target)), access_key_(std::move(access_key)) {}

    McpSessionCard card() const;
    // Remembers how the client introduced itself and the session it got.
    void opened(const RpcRequest& initialize, const HttpResponse& response, const Json& result);
    // Opens a new session in place of the one with this generation, unless that was done meanwhile.
    Result<void> renew(std::uint64_t generation);
    // Tells the server that the session is over. No session is opened afterwards.
    void end();
    bool is_ended() const { return is_ended_.load(); }

    // Who cancels a request wants no answer to it, not even an error of ours.
    void note_cancelled(const Json& request_id);
    void forget_cancelled(const Json& request_id);  // The id is used anew.
    bool was_cancelled(const Json& request_id) const;

    const HttpTarget& target() const { return target_; }
    HttpRequest request(std::string method, const McpSessionCard& card) const;

private:
    const HttpTarget target_;
    const SecretString access_key_;
    std::atomic<bool> is_ended_{false};
    std::mutex renewing_;       // Held while a session is opened anew: one thread does it for all.
    mutable std::mutex mutex_;  // Guards all below.
    McpSessionCard card_;
    std::optional<RpcRequest> initialize_;
    std::deque<Json> cancelled_;
};

class McpBridgeLink {
public:
    // Called for each message of the server, as one line without its end.
    using OnMessage = std::function<void(std::string_view line)>;

    // The session outlives the link.
    McpBridgeLink(McpBridgeSession& session, OnMessage on_message);

    // Sends `initialize` and remembers the session. The client always gets an answer.
    void initialize(const RpcRequest& request);
    // Sends a request; the client always gets an answer, if need be an error of our own.
    void call(const RpcRequest& request);
    // Sends a notification or a response; nobody waits for anything.
    Result<void> tell(const std::string& text);

private:
    struct Reply {
        HttpResponse head;
        std::string body;  // Unless it was an event stream.
        bool is_answered = false;
        std::string last_event_id;
    };
    Result<Reply> exchange(const HttpRequest& request, const Json& awaited_id);
    Result<Reply> post(const std::string& text, const Json& awaited_id);
    Result<Reply> resume(Reply reply, const Json& awaited_id);
    void answer(const RpcRequest& request, const Result<Reply>& reply);
    void answer_error(const Json& id, std::string message, Json data = nullptr);

    McpBridgeSession& session_;
    const OnMessage on_message_;
    std::unique_ptr<HttpClient> client_;
};

// Listens to the standing stream until the session has ended, or the server offers none. `pause`
// waits before the next attempt and says whether to go on.
void follow_standing_stream(
    McpBridgeSession& session,
    const McpBridgeLink::OnMessage& on_message,
    const std::function<bool()>& pause);

}  // namespace interlock
