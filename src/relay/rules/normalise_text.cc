// SMS through Twilio and messages of WeCom: both are conversations with one person, told in a few
// flat fields. docs/contracts/relay-connector.md#forwards says why they become messages.
#include <algorithm>
#include <charconv>

#include "base/errors.h"
#include "base/text.h"
#include "relay/rules/flat_xml.h"
#include "relay/rules/platform_event.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kSmsMediaMax = 10;  // What Twilio sends.

std::string field(const FormFields& form, std::string_view name) {
    const auto found =
        std::ranges::find_if(form, [&name](const auto& item) { return item.first == name; });
    return found == form.end() ? std::string() : found->second;
}

std::string field(const std::map<std::string, std::string>& fields, const std::string& name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
}

bool is_bounded(const MessageEvent& event) {
    return event.source.chat_id.size() <= kRelayIdBytesMax &&
           event.message_id.size() <= kRelayIdBytesMax && event.text.size() <= kRelayTextBytesMax &&
           is_valid_utf8(event.text) && is_valid_utf8(event.source.chat_id);
}

bool is_bounded(const PlatformFile& file) {
    return !file.file_id.empty() && file.file_id.size() <= kRelayUrlBytesMax &&
           file.kind.size() <= kRelayIdBytesMax && file.mime.size() <= kRelayIdBytesMax &&
           file.filename.size() <= kRelayNameBytesMax &&
           file.public_url.size() <= kRelayUrlBytesMax &&
           is_valid_utf8(file.file_id + file.kind + file.mime + file.filename + file.public_url);
}

PlatformEvent direct_message(std::string platform, std::string from, std::string id) {
    PlatformEvent made;
    made.event_id = id;
    made.event.message_id = id;
    made.is_dm = true;
    made.addresses_bot = true;
    SessionSource& source = made.event.source;
    source.platform = std::move(platform);
    source.chat_type = "dm";
    source.chat_id = from;
    source.user_id = std::move(from);
    source.message_id = std::move(id);
    return made;
}

// The addresses may ask for the account's credential and always name the account, so gateways do
// not get them.
void add_files(const FormFields& form, PlatformEvent& made) {
    std::size_t count = 0;
    const std::string digits = field(form, "NumMedia");
    std::from_chars(digits.data(), digits.data() + digits.size(), count);
    for (std::size_t i = 0; i < std::min(count, kSmsMediaMax); ++i) {
        const std::string number = std::to_string(i);
        PlatformFile file;
        file.file_id = field(form, "MediaUrl" + number);
        file.mime = field(form, "MediaContentType" + number);
        file.kind = file.mime.substr(0, file.mime.find('/'));
        if (!is_bounded(file)) {
            continue;
        }
        if (made.files.empty()) {
            made.event.type = file.kind == "image"   ? MessageType::photo
                              : file.kind == "video" ? MessageType::video
                              : file.kind == "audio" ? MessageType::audio
                                                     : MessageType::document;
        }
        made.files.push_back(std::move(file));
    }
}

MessageType wecom_type(std::string_view kind) {
    return kind == "file"         ? MessageType::document
           : kind == "shortvideo" ? MessageType::video
                                  : message_type_of(kind);
}

}  // namespace

Result<Normalised> normalise_twilio(const FormFields& form) {
    std::string id = field(form, "MessageSid");
    if (id.empty()) {
        id = field(form, "SmsMessageSid");
    }
    const std::string from = field(form, "From");
    if (id.empty() || from.empty()) {
        return fail(errors::invalid_request, "This is not what Twilio sends: MessageSid and From.");
    }
    PlatformEvent made = direct_message("sms", from, id);
    made.event.text = field(form, "Body");
    made.event.source.user_name = field(form, "ProfileName");
    add_files(form, made);
    if (!is_bounded(made.event)) {
        return fail(errors::invalid_request, "A field is too long, or is not UTF-8.");
    }
    if (made.event.text.empty() && made.files.empty()) {
        return Normalised{std::nullopt, "a message without text or media"};
    }
    return Normalised{std::move(made), {}};
}

Result<Normalised> normalise_wecom(std::string_view xml) {
    const auto fields = read_flat_xml(xml);
    if (!fields) {
        return fail(errors::invalid_request, "This is not the XML that WeCom sends.");
    }
    const std::string kind = field(*fields, "MsgType");
    const std::string from = field(*fields, "FromUserName");
    const std::string id = field(*fields, "MsgId");
    if (kind == "event") {
        return Normalised{std::nullopt, "an event of the platform"};
    }
    if (kind.empty() || from.empty() || id.empty()) {
        return fail(
            errors::invalid_request,
            "This is not what WeCom sends: MsgType, FromUserName and MsgId.");
    }
    PlatformEvent made = direct_message("wecom", from, id);
    made.event.text = field(*fields, "Content");
    if (kind == "image") {
        made.event.type = MessageType::photo;
    } else if (kind == "location") {
        made.event.type = MessageType::location;
        made.event.text = field(*fields, "Location_X") + ", " + field(*fields, "Location_Y");
    } else if (kind != "text") {
        made.event.type = wecom_type(kind);
    }
    PlatformFile file{
        .file_id = field(*fields, "MediaId"),
        .kind = kind == "image" ? kind : std::string(to_word(made.event.type)),
        .mime = {},
        .filename = field(*fields, "FileName"),
        .size = std::nullopt,
        .public_url = field(*fields, "PicUrl")};
    if (is_bounded(file)) {
        made.files.push_back(std::move(file));
    } else if (!file.public_url.empty() && file.public_url.size() <= kRelayUrlBytesMax) {
        made.event.media_urls.push_back(std::move(file.public_url));
    }
    if (!is_bounded(made.event)) {
        return fail(errors::invalid_request, "A field is too long, or is not UTF-8.");
    }
    if (made.event.text.empty() && made.files.empty() && made.event.media_urls.empty()) {
        return Normalised{std::nullopt, "a message without text or media"};
    }
    return Normalised{std::move(made), {}};
}

}  // namespace interlock
