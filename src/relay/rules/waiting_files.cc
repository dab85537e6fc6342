#include "relay/rules/waiting_files.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::string_view kOpening = R"({"files":[)";
constexpr std::string_view kUnknownType = "application/octet-stream";
constexpr std::size_t kMediaTypeBytesMax = 100;

Json encode(const PlatformFile& file) {
    Json json = Json::object({{"file_id", file.file_id}});
    set_unless_empty(json, "kind", file.kind);
    set_unless_empty(json, "mime", file.mime);
    set_unless_empty(json, "filename", file.filename);
    set_unless_empty(json, "public_url", file.public_url);
    if (file.size) {
        json.set("size", *file.size);
    }
    return json;
}

PlatformFile read_file(WireReader& outer, const Json& json) {
    WireReader in(json);
    PlatformFile file{
        .file_id = in.required_text("file_id", kRelayUrlBytesMax),
        .kind = in.text("kind"),
        .mime = in.text("mime"),
        .filename = in.text("filename", kRelayNameBytesMax),
        .size = in.integer("size"),
        .public_url = in.text("public_url", kRelayUrlBytesMax)};
    if (!in.ok()) {
        outer.add_problem("files:", in.problem());
    }
    return file;
}

// One line for a reader who cannot have the file.
std::string missing_line(const PlatformFile& file, const std::string& why) {
    std::string what = file.filename.empty() ? "a file" : file.filename;
    if (!file.kind.empty()) {
        what += " (" + file.kind + ")";
    }
    return "[Missing: " + what + ". " + why + "]";
}

void add_line(MessageEvent& event, const std::string& line) {
    const bool is_first = event.text.empty();
    if (event.text.size() + line.size() + 1 <= kRelayTextBytesMax) {
        event.text += is_first ? line : "\n" + line;
    }
}

bool is_type_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
           c == '_';
}

}  // namespace

std::string encode_waiting(const WaitingFiles& message) {
    Json files = Json::array();
    for (const PlatformFile& file : message.files) {
        files.push(encode(file));
    }
    return to_text(Json::object(
        {{"files", std::move(files)},
         {"platform", message.platform},
         {"bot_id", message.bot_id},
         {"event", encode(message.event)}}));
}

bool has_waiting_files(std::string_view stored) {
    return stored.starts_with(kOpening);
}

Result<WaitingFiles> decode_waiting(std::string_view stored) {
    TRY_ASSIGN(const Json json, parse_json(stored));
    WireReader in(json);
    WaitingFiles message;
    message.platform = in.required_text("platform");
    message.bot_id = in.required_text("bot_id");
    if (const Json::Array* const files = in.array("files", kEventMediaMax)) {
        for (const Json& file : *files) {
            message.files.push_back(read_file(in, file));
        }
    }
    if (const Json* const event = in.object("event")) {
        TRY_ASSIGN(message.event, decode_message_event(*event));
    }
    return in.finish(std::move(message));
}

MessageEvent with_fates(WaitingFiles message, const std::vector<FileFate>& fates) {
    MessageEvent event = std::move(message.event);
    for (std::size_t i = 0; i < message.files.size(); ++i) {
        const PlatformFile& file = message.files[i];
        const FileFate* const fate = i < fates.size() ? &fates[i] : nullptr;
        if (fate != nullptr && !fate->url.empty()) {
            event.media_urls.push_back(fate->url);
            event.media.push_back(
                {.url = fate->url,
                 .kind = file.kind,
                 .mime = fate->mime,
                 .size = fate->bytes,
                 .filename = file.filename.empty() ? fate->filename : file.filename,
                 .caption = {}});
        } else if (!file.public_url.empty()) {
            event.media_urls.push_back(file.public_url);
        } else {
            const bool has_reason = fate != nullptr && !fate->missing.empty();
            add_line(event, missing_line(file, has_reason ? fate->missing : "It was not fetched."));
        }
    }
    return event;
}

std::string safe_file_name(std::string_view name) {
    name = name.substr(name.find_last_of("/\\") + 1);
    std::string safe;
    for (const char c : name.substr(0, kMediaNameBytesMax)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > 0x1f && byte < 0x7f && c != '"') {
            safe += c;
        } else {
            safe += '_';
        }
    }
    const bool is_dots = std::ranges::all_of(safe, [](char c) { return c == '.'; });
    return is_dots ? std::string() : safe;
}

std::string safe_media_type(std::string_view text) {
    const std::string type = to_lower(trim(text.substr(0, text.find(';'))));
    const std::size_t slash = type.find('/');
    const bool is_type =
        slash > 0 && slash + 1 < type.size() && type.size() <= kMediaTypeBytesMax &&
        std::ranges::count(type, '/') == 1 &&
        std::ranges::all_of(type, [](char c) { return c == '/' || is_type_character(c); });
    return is_type ? type : std::string(kUnknownType);
}

}  // namespace interlock
