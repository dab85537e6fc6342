// A Discord that answers from a script: HTTP answers in the order given, sockets that the test
// speaks on, and an inbox that keeps what arrives.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "relay/platforms/discord/discord_wire.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

inline HttpResponse json_answer(int status, std::string body) {
    return text_response(status, "application/json", std::move(body));
}

// One end of a socket; the test holds the other.
struct ScriptedLine {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<SocketNews> incoming;
    std::deque<std::string> sent;
    std::optional<std::uint16_t> closed_with;
    bool is_woken = false;

    void say(std::string text) {
        const std::lock_guard lock(mutex);
        incoming.emplace_back(std::in_place_type<SocketText>, std::move(text));
        changed.notify_all();
    }
    void hang_up(std::uint16_t code) {
        const std::lock_guard lock(mutex);
        incoming.emplace_back(std::in_place_type<SocketClosed>, code);
        changed.notify_all();
    }
    // The next text that our side sent; waits for it.
    std::string heard() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return !sent.empty(); });
        std::string text = std::move(sent.front());
        sent.pop_front();
        return text;
    }
    std::uint16_t close_code() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return closed_with.has_value(); });
        return *closed_with;
    }
};

class ScriptedSocket final : public DiscordSocket {
public:
    explicit ScriptedSocket(std::shared_ptr<ScriptedLine> line) : line_(std::move(line)) {}

    SocketNews receive(Duration wait) override {
        std::unique_lock lock(line_->mutex);
        line_->changed.wait_for(lock, std::chrono::microseconds(wait.microseconds), [this] {
            return line_->is_woken || !line_->incoming.empty();
        });
        line_->is_woken = false;
        if (line_->incoming.empty()) {
            return SocketSilence{};
        }
        SocketNews news = std::move(line_->incoming.front());
        line_->incoming.pop_front();
        return news;
    }
    bool send(const std::string& text) override {
        const std::lock_guard lock(line_->mutex);
        line_->sent.push_back(text);
        line_->changed.notify_all();
        return true;
    }
    void close(std::uint16_t code) override {
        const std::lock_guard lock(line_->mutex);
        line_->closed_with = code;
        line_->changed.notify_all();
    }
    void wake() override {
        const std::lock_guard lock(line_->mutex);
        line_->is_woken = true;
        line_->changed.notify_all();
    }

private:
    const std::shared_ptr<ScriptedLine> line_;
};

class ScriptedDiscord final : public DiscordWire {
public:
    using Answer = std::expected<HttpResponse, WireFailure>;

    // Answers calls of "METHOD /path" (behind the base) in this order; the last one stays.
    void answer(const std::string& call, Answer with) {
        const std::lock_guard lock(mutex_);
        answers_[call].push_back(std::move(with));
    }
    Answer call(const WireCall& call) override {
        const std::lock_guard lock(mutex_);
        const std::size_t path = call.url.find("/api/v10");
        const std::string key = call.method + " " + call.url.substr(path + 8);
        calls_.push_back(call);
        changed_.notify_all();
        const auto found = answers_.find(key);
        if (found == answers_.end()) {
            return json_answer(404, R"({"message":"404: Not Found","code":0})");
        }
        Answer answer = found->second.front();
        if (found->second.size() > 1) {
            found->second.pop_front();
        }
        return answer;
    }
    Result<std::unique_ptr<DiscordSocket>> connect(const std::string& url) override {
        const std::lock_guard lock(mutex_);
        auto line = std::make_shared<ScriptedLine>();
        lines_.emplace_back(url, line);
        changed_.notify_all();
        return std::make_unique<ScriptedSocket>(std::move(line));
    }

    // The nth connection and its address; waits for it.
    std::pair<std::string, std::shared_ptr<ScriptedLine>> line(std::size_t number) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return lines_.size() > number; });
        return lines_[number];
    }
    // Waits until a call to this "METHOD /path" was made, and gives it.
    WireCall called(const std::string& key) {
        std::unique_lock lock(mutex_);
        while (true) {
            for (const WireCall& call : calls_) {
                if ((call.method + " " + call.url).ends_with(key) ||
                    call.method + " " + call.url.substr(call.url.find("/api/v10") + 8) == key) {
                    return call;
                }
            }
            changed_.wait(lock);
        }
    }
    std::vector<WireCall> calls() {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::deque<Answer>> answers_;
    std::vector<WireCall> calls_;
    std::vector<std::pair<std::string, std::shared_ptr<ScriptedLine>>> lines_;
};

// Keeps arrivals and answers them as it was told, at once or when the test says.
class KeepingInbox final : public PlatformInbox {
public:
    void submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) override {
        InboxAnswer now;
        {
            const std::lock_guard lock(mutex_);
            arrivals_.push_back(std::move(arrival));
            changed_.notify_all();
            if (is_held_) {
                held_.push_back(std::move(done));
                return;
            }
            now = answer_;
        }
        done(now);
    }
    void note_cursor(const BotKey&, std::string cursor) override {
        const std::lock_guard lock(mutex_);
        cursors_.push_back(std::move(cursor));
        changed_.notify_all();
    }

    void hold() {
        const std::lock_guard lock(mutex_);
        is_held_ = true;
    }
    void set_answer(InboxAnswer answer) {
        const std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
    }
    // Answers the oldest one held.
    void release(const InboxAnswer& answer) {
        std::function<void(InboxAnswer)> done;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !held_.empty(); });
            done = std::move(held_.front());
            held_.pop_front();
        }
        done(answer);
    }
    // The nth arrival; waits for it.
    const PlatformArrival& arrival(std::size_t number) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return arrivals_.size() > number; });
        return arrivals_[number];
    }
    std::size_t arrivals() {
        const std::lock_guard lock(mutex_);
        return arrivals_.size();
    }
    // Waits for a noted cursor that this holds of.
    std::string cursor_with(const std::function<bool(const std::string&)>& holds) {
        std::unique_lock lock(mutex_);
        while (true) {
            for (const std::string& cursor : cursors_) {
                if (holds(cursor)) {
                    return cursor;
                }
            }
            changed_.wait(lock);
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<PlatformArrival> arrivals_;
    std::vector<std::string> cursors_;
    std::deque<std::function<void(InboxAnswer)>> held_;
    bool is_held_ = false;
    InboxAnswer answer_{.is_stored = true, .is_delivered = true, .notice = {}};
};

}  // namespace interlock
