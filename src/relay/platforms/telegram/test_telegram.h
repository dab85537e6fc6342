// A Bot API made of memory for tests: it keeps a queue of updates, answers the methods that we use,
// and lets a test put an answer of its own in the place of any.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "relay/platforms/common/platform_http.h"

namespace interlock {

class FakeTelegram {
public:
    static constexpr std::string_view kToken = "123:token-canary-31f2a9c4";
    static constexpr std::string_view kBase = "https://telegram.test";
    using Outcome = std::expected<PlatformHttpAnswer, HttpFailure>;

    struct Seen {
        std::string method;
        Json fields;
        std::string content_type;
        std::string body;
    };
    // Nothing: answered as usual. Called under the fake's lock.
    using Intercept = std::function<std::optional<Outcome>(const Seen&)>;

    PlatformHttp http() {
        return [this](const PlatformHttpCall& call) { return answer(call); };
    }
    void intercept(Intercept with) {
        const std::lock_guard lock(mutex_);
        intercept_ = std::move(with);
    }

    static Outcome ok(const Json& result) {
        return PlatformHttpAnswer{
            200, {}, to_text(Json::object({{"ok", true}, {"result", result}}))};
    }
    static Outcome refuse(int code, const std::string& description, Json parameters = {}) {
        Json body =
            Json::object({{"ok", false}, {"error_code", code}, {"description", description}});
        if (parameters.is_object()) {
            body.set("parameters", std::move(parameters));
        }
        return PlatformHttpAnswer{code, {}, to_text(body)};
    }

    // Gives the update its number and queues it.
    std::int64_t push(Json update) {
        const std::lock_guard lock(mutex_);
        const std::int64_t id = next_update_++;
        update.set("update_id", id);
        queue_.push_back(std::move(update));
        changed_.notify_all();
        return id;
    }
    static Json message(
        const std::string& text, std::int64_t message_id, std::int64_t chat_id = 42) {
        return Json::object(
            {{"message",
              Json::object(
                  {{"message_id", message_id},
                   {"date", 1'794'744'000},
                   {"chat", Json::object({{"id", chat_id}, {"type", "private"}})},
                   {"from",
                    Json::object({{"id", chat_id}, {"is_bot", false}, {"first_name", "Ann"}})},
                   {"text", text}})}});
    }

    std::vector<Seen> calls(std::string_view method) {
        const std::lock_guard lock(mutex_);
        std::vector<Seen> found;
        std::ranges::copy_if(seen_, std::back_inserter(found), [&](const Seen& one) {
            return one.method == method;
        });
        return found;
    }
    // Waits until the method was called that often.
    bool wait_for(std::string_view method, std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), [&] {
            return static_cast<std::size_t>(std::ranges::count(seen_, method, &Seen::method)) >=
                   count;
        });
    }
    // Ids that Telegram would still repeat.
    std::vector<std::int64_t> unconfirmed() {
        const std::lock_guard lock(mutex_);
        std::vector<std::int64_t> ids;
        for (const Json& update : queue_) {
            ids.push_back(update.find("update_id")->as_int64().value());
        }
        return ids;
    }

private:
    Outcome answer(const PlatformHttpCall& call) {
        std::unique_lock lock(mutex_);
        const std::string prefix = std::string(kBase) + "/bot" + std::string(kToken) + "/";
        const std::string files = std::string(kBase) + "/file/bot" + std::string(kToken) + "/";
        if (call.url.starts_with(files)) {
            return note({"file", call.url.substr(files.size()), {}, {}});
        }
        if (!call.url.starts_with(prefix)) {
            return refuse(401, "Unauthorized");
        }
        Seen seen{call.url.substr(prefix.size()), {}, {}, call.body};
        seen.content_type = call.headers.empty() ? "" : call.headers.front().second;
        if (seen.content_type == "application/json") {
            seen.fields = parse_json(call.body).value_or(Json());
        }
        if (seen.method == "getUpdates") {
            return updates(call, seen, lock);
        }
        return note(seen);
    }

    Outcome note(const Seen& seen) {
        seen_.push_back(seen);
        changed_.notify_all();
        if (intercept_) {
            if (auto given = intercept_(seen)) {
                return *std::move(given);
            }
        }
        return usual(seen);
    }

    Outcome usual(const Seen& seen) {
        const std::string& method = seen.method;
        if (method == "getMe") {
            return ok(Json::object({{"id", 123}, {"is_bot", true}, {"username", "fake_bot"}}));
        }
        if (method == "getChat") {
            return ok(Json::object(
                {{"id", 42}, {"type", "private"}, {"first_name", "Ann"}, {"last_name", "Lee"}}));
        }
        if (method == "createForumTopic") {
            return ok(Json::object({{"message_thread_id", 77}, {"name", "topic"}}));
        }
        if (method == "getFile") {
            return ok(Json::object({{"file_id", "f"}, {"file_path", "photos/file 1.jpg"}}));
        }
        if (method == "file") {
            return PlatformHttpAnswer{200, {}, "bytes"};
        }
        if (method.starts_with("send") && method != "sendChatAction") {
            return ok(Json::object({{"message_id", next_message_++}}));
        }
        return ok(Json(true));
    }

    Outcome updates(
        const PlatformHttpCall& call, const Seen& seen, std::unique_lock<std::mutex>& lock) {
        if (const Json* const offset = seen.fields.find("offset")) {
            const std::int64_t first = offset->as_int64().value();
            std::erase_if(queue_, [&](const Json& update) {
                return update.find("update_id")->as_int64().value() < first;
            });
        }
        Outcome intercepted = note(seen);
        if (!intercepted || intercepted->body.find("\"result\":true") == std::string::npos) {
            return intercepted;
        }
        // Looks again often enough, since nobody announces that a call was cancelled.
        while (queue_.empty() && !(call.is_cancelled != nullptr && *call.is_cancelled)) {
            changed_.wait_for(lock, std::chrono::milliseconds(2));
        }
        Json result = Json::array();
        const auto limit = static_cast<std::size_t>(seen.fields.find("limit")->as_int64().value());
        for (std::size_t i = 0; i < std::min(limit, queue_.size()); ++i) {
            result.push(queue_[i]);
        }
        return ok(result);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    Intercept intercept_;
    std::vector<Seen> seen_;
    std::vector<Json> queue_;
    std::int64_t next_update_ = 100;
    std::int64_t next_message_ = 1;
};

}  // namespace interlock
