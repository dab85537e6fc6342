#include "app/mcp/mcp_stdio_bridge.h"

#include <condition_variable>
#include <istream>
#include <mutex>
#include <ostream>
#include <thread>
#include <vector>

#include "app/mcp/mcp_bridge_link.h"
#include "base/bounded_queue.h"
#include "base/log.h"

namespace interlock {
namespace {

constexpr std::chrono::microseconds kQueueWait{1'000'000};
constexpr std::chrono::microseconds kStreamPause{500'000};

class LineWriter {
public:
    explicit LineWriter(std::ostream& out) : out_(out) {}
    void write(std::string_view line) {
        const std::lock_guard lock(mutex_);
        out_ << line << '\n' << std::flush;
    }

private:
    std::mutex mutex_;  // Lines of several threads must not mix.
    std::ostream& out_;
};

// Counts the threads that still work, so that the end of input can wait for them, but not forever.
class WorkerCount {
public:
    void begin() {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    void end() {
        const std::lock_guard lock(mutex_);
        --count_;
        changed_.notify_all();
    }
    void wait_until_none(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, time, [this] { return count_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

enum class LineRead { line, too_long, end };

LineRead read_line(std::istream& in, std::string& line) {
    line.clear();
    bool is_too_long = false;
    for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
        if (c == '\n') {
            return is_too_long ? LineRead::too_long : LineRead::line;
        }
        is_too_long = is_too_long || line.size() >= kBridgeLineBytesMax;
        if (!is_too_long) {
            line += static_cast<char>(c);
        }
    }
    return line.empty() ? LineRead::end : LineRead::line;
}

class McpStdioBridge {
public:
    McpStdioBridge(std::ostream& out, HttpTarget target, SecretString access_key)
        : out_(out), session_(std::move(target), std::move(access_key)) {}

    void run(std::istream& in) {
        start_workers();
        McpBridgeLink hello(session_, [this](std::string_view line) { out_.write(line); });
        std::string line;
        for (LineRead read = read_line(in, line); read != LineRead::end;
             read = read_line(in, line)) {
            if (read == LineRead::too_long) {
                refuse(nullptr, kRpcInvalidRequest, "The message is too long.");
            } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
                take(line, hello);
            }
        }
        finish();
    }

private:
    void start_workers() {
        for (int i = 0; i < kBridgeCallsMax; ++i) {
            start([this](McpBridgeLink& link) {
                work(calls_, [&](const RpcRequest& request) { link.call(request); });
            });
        }
        start([this](McpBridgeLink& link) {
            work(told_, [&](const std::string& text) {
                if (const auto told = link.tell(text); !told) {
                    log_warn("mcp_message_not_delivered", {{"reason", told.error().message}});
                }
            });
        });
    }

    template <class Work>
    void start(Work run_with) {
        workers_running_.begin();
        threads_.emplace_back([this, run_with] {
            McpBridgeLink link(session_, [this](std::string_view line) { out_.write(line); });
            run_with(link);
            workers_running_.end();
        });
    }

    template <class Item, class Handle>
    static void work(BoundedQueue<Item>& queue, Handle handle) {
        while (true) {
            const std::vector<Item> taken = queue.pop(1, kQueueWait);
            if (taken.empty() && queue.is_closed()) {
                return;
            }
            for (const Item& item : taken) {
                handle(item);
            }
        }
    }

    void take(const std::string& line, McpBridgeLink& hello) {
        auto message = decode_rpc(line);
        if (!message) {
            const RpcRefusal& why = message.error();
            refuse(why.id, why.error.code, why.error.message);
            return;
        }
        auto* request = std::get_if<RpcRequest>(&*message);
        if (request != nullptr) {
            session_.forget_cancelled(request->id);
        }
        if (request != nullptr && request->method == "initialize") {
            // Nothing can be sent before the session is there, so this one is waited for.
            hello.initialize(*request);
            follow_server();
        } else if (request != nullptr) {
            const Json id = request->id;
            if (!calls_.push(std::move(*request))) {
                refuse(id, kRpcServerError, "Too many requests are waiting; try again later.");
            }
        } else {
            tell(*message, line);
        }
    }

    void tell(const RpcMessage& message, const std::string& line) {
        const auto* notification = std::get_if<RpcNotification>(&message);
        if (notification != nullptr && notification->method == "notifications/cancelled") {
            if (const Json* request_id = notification->params.find("requestId")) {
                session_.note_cancelled(*request_id);
            }
        }
        if (!told_.push(std::string(line))) {
            log_warn("mcp_message_not_delivered", {{"reason", "too many are waiting"}});
        }
    }

    void follow_server() {
        if (session_.card().id.empty() || is_following_) {
            return;
        }
        is_following_ = true;
        threads_.emplace_back([this] {
            follow_standing_stream(
                session_,
                [this](std::string_view line) { out_.write(line); },
                [this] {
                    ended_.pop(1, kStreamPause);  // Nothing ever comes; it ends when closed.
                    return !ended_.is_closed();
                });
        });
    }

    void finish() {
        calls_.close();
        told_.close();
        workers_running_.wait_until_none(kBridgeDrainTime);
        ended_.close();
        session_.end();  // Also ends the streams that threads may still be reading.
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    void refuse(const Json& id, int code, std::string message) {
        out_.write(to_text(encode(RpcResponse{id, rpc_fail(code, std::move(message))})));
    }

    LineWriter out_;
    McpBridgeSession session_;
    BoundedQueue<RpcRequest> calls_{kBridgeWaitingMax, 0};
    BoundedQueue<std::string> told_{kBridgeWaitingMax, 0};
    BoundedQueue<char> ended_{1, 0};
    WorkerCount workers_running_;
    bool is_following_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace

int run_mcp_stdio_bridge(
    std::istream& in, std::ostream& out, HttpTarget target, SecretString access_key) {
    McpStdioBridge(out, std::move(target), std::move(access_key)).run(in);
    return 0;
}

}  // namespace interlock
