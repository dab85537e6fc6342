// The Bot API's JSON: what we ask, and what its answers mean. No IO.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

inline constexpr std::int64_t kTelegramTextMax = 4096;    // UTF-16 units.
inline constexpr std::size_t kTelegramCaptionMax = 1024;  // Likewise.
inline constexpr std::size_t kTelegramNoticeMax = 200;    // Of a pressed button's notice.
inline constexpr std::size_t kTelegramButtonBytesMax = 64;
inline constexpr std::size_t kTelegramUploadBytesMax = std::size_t{50} * 1000 * 1000;
inline constexpr std::int64_t kTelegramUpdatesMax = 100;  // In one answer.

struct TelegramUpload {
    std::string field;  // "photo", …; empty: there is none.
    std::string filename;
    std::string mime;
    std::string_view bytes;  // Of the call that it is made from.
};

struct TelegramRequest {
    std::string method;
    Json fields = Json::object();
    TelegramUpload upload;
};

struct TelegramStyle {
    std::string markup = {};  // The action's text as MarkdownV2; empty: it is sent as it is.
};
// The request for an action, or why there can be none.
std::expected<TelegramRequest, PlatformReply> telegram_request(
    const PlatformCall& call, const TelegramStyle& style);

TelegramRequest get_me_request();
TelegramRequest get_file_request(const std::string& file_id);
TelegramRequest set_webhook_request(const std::string& url, std::string_view secret);
struct UpdatesQuestion {
    std::optional<std::int64_t> offset;
    std::int64_t limit = kTelegramUpdatesMax;
    std::int64_t timeout_seconds = 0;
};
TelegramRequest get_updates_request(const UpdatesQuestion& question);
// `notice` is shown to who pressed the button; may be empty.
TelegramRequest answer_callback_request(const std::string& callback_id, const std::string& notice);
// The same as the body of an answer to a webhook.
std::string answer_callback_body(const std::string& callback_id, const std::string& notice);

// application/json, or multipart/form-data with an upload.
struct EncodedRequest {
    std::string content_type;
    std::string body;
};
EncodedRequest encode(const TelegramRequest& request);

struct TelegramAnswer {
    bool is_ok = false;
    Json result;
    std::int64_t code = 0;
    std::string description;
    std::optional<Duration> retry_after;
    std::string migrated_to;  // The chat's new id.
};
// Nothing: this is no answer of the Bot API.
std::optional<TelegramAnswer> read_telegram_answer(std::string_view body);

// Why a call was refused; `token` is masked in what Telegram says.
PlatformReply refused_by_telegram(const TelegramAnswer& answer, std::string_view token);
bool is_parse_problem(const TelegramAnswer& answer);
bool is_too_big(const TelegramAnswer& answer);  // A file, for a bot to fetch.
// A webhook is set, so nothing can be fetched.
bool is_webhook_conflict(const TelegramAnswer& answer);
// What a call that was taken yields.
PlatformReply taken_by_telegram(const RelayAction& action, const Json& result);
// An edit that changes nothing.
bool is_not_modified(const TelegramAnswer& answer);

struct TelegramUpdate {
    std::int64_t id = 0;
    Json json;
    std::string callback_id;  // Of a pressed button.
};
// Nothing when it is no list of updates.
std::optional<std::vector<TelegramUpdate>> read_updates(Json result);
std::string callback_id_of(const Json& update);
// The first update's id in an answer that cannot be read as JSON.
std::optional<std::int64_t> update_id_in(std::string_view body);

std::string username_of(const Json& get_me_result);

struct TelegramFile {
    std::string path;
    std::optional<std::int64_t> size;
};
std::optional<TelegramFile> read_file(const Json& get_file_result);

}  // namespace interlock
