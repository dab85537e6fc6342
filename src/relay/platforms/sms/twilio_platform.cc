#include "relay/platforms/sms/twilio_platform.h"

#include <utility>

#include "base/bytes.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/text.h"
#include "relay/platforms/common/file_answer.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/platforms/sms/twilio_json.h"
#include "relay/rules/message_split.h"

namespace interlock {
namespace {

constexpr std::string_view kName = "Twilio";
// Nothing is answered in the webhook itself: answers are calls, which are on the record first.
constexpr std::string_view kEmptyTwiml =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response></Response>";

SecretString basic_authorization(const TwilioConfig& config) {
    std::string plain = config.account_sid + ":" + std::string(config.auth_token.reveal());
    SecretString made("Basic " + to_base64(plain));
    wipe(plain);
    return made;
}

WebhookAnswer refuse_webhook(int status, std::string why) {
    WebhookAnswer answer;
    answer.status = status;
    answer.refusal = std::move(why);
    return answer;
}

std::string with_escaped_plus(std::string_view url) {
    std::string escaped;
    for (const char c : url) {
        escaped += c == '+' ? std::string("%2B") : std::string(1, c);
    }
    return escaped;
}

}  // namespace

TwilioPlatform::TwilioPlatform(Parts parts)
    : parts_(std::move(parts)),
      bot_{"sms", parts_.config.bot_id},
      authorization_(basic_authorization(parts_.config)),
      wait_(parts_.wait ? parts_.wait : [this](Duration span) { return stop_.wait(span); }),
      pace_(kTwilioPace, kTwilioChatPace) {}

CapabilityDescriptor TwilioPlatform::descriptor() const {
    CapabilityDescriptor descriptor;
    descriptor.platform = bot_.platform;
    descriptor.label = "SMS";
    descriptor.max_message_length = kSmsLengthMax;
    descriptor.len_unit = LengthUnit::utf16;
    descriptor.emoji = "\U0001F4F1";
    descriptor.platform_hint = "Text messages: plain text, and every 70 to 160 characters cost.";
    descriptor.supported_ops = {"send", "get_chat_info"};
    return descriptor;
}

PlatformHealth TwilioPlatform::health() const {
    const bool is_started = is_started_;
    return {
        .is_connected = is_started,
        .is_broken = false,
        .detail = is_started ? "waiting for webhooks" : "stopped"};
}

void TwilioPlatform::start(PlatformInbox&, std::string) {
    is_started_ = true;
}

void TwilioPlatform::stop() {
    stop_.stop();
    is_started_ = false;
}

std::string TwilioPlatform::masked(std::string_view text) const {
    return without_secret(
        without_secret(text, authorization_.reveal().substr(std::string_view("Basic ").size())),
        parts_.config.auth_token.reveal());
}

PlatformReply TwilioPlatform::call(const PlatformCall& call) {
    if (const auto* const question = std::get_if<GetChatInfoAction>(&call.action)) {
        PlatformReply reply = sent_reply();
        reply.chat_info = ChatInfo{.name = question->chat_id, .type = "dm"};
        return reply;
    }
    const auto* const message = std::get_if<SendAction>(&call.action);
    if (message == nullptr) {
        return unsupported_reply("SMS", op_of(call.action));
    }
    if (message->content.empty() || message->chat_id.empty()) {
        return refused_reply("invalid_request", "A message needs a number and a text.");
    }
    if (length_in(message->content, LengthUnit::utf16) > kSmsLengthMax) {
        return refused_reply("too_long", "Twilio takes texts of up to 1600 characters.");
    }
    return run_paced(
        {.clock = parts_.clock,
         .wait = wait_,
         .pace = pace_,
         .chat_id = message->chat_id,
         .not_after = call.not_after},
        [&] { return attempt(*message); });
}

PlatformReply TwilioPlatform::attempt(const SendAction& action) const {
    const TwilioConfig& config = parts_.config;
    const bool is_service = config.from.starts_with("MG");
    PlatformHttpCall call;
    call.url = config.api_base + "/2010-04-01/Accounts/" + percent_encode(config.account_sid) +
               "/Messages.json";
    call.headers = {
        {"authorization", std::string(authorization_.reveal())},
        {"content-type", "application/x-www-form-urlencoded"}};
    call.body = encode_form(
        {{"To", action.chat_id},
         {is_service ? "MessagingServiceSid" : "From", config.from},
         {"Body", action.content}});
    const auto answer = parts_.http(call);
    wipe(call.headers.front().second);
    if (!answer) {
        return failed_reply(kName, answer.error());
    }
    return read_twilio_answer(*answer, [this](std::string_view text) { return masked(text); });
}

std::expected<PlatformHttpAnswer, HttpFailure> TwilioPlatform::ask_file(
    const std::string& url, const FileQuestion& question, Credential credential) const {
    PlatformHttpCall call;
    call.method = "GET";
    call.url = url;
    if (credential == Credential::with) {
        call.headers = {{"authorization", std::string(authorization_.reveal())}};
    }
    call.is_told = !url.starts_with(parts_.config.api_base + "/");
    call.timeout = question.timeout;
    call.answer_bytes_max = question.bytes_max;
    call.is_cancelled = &stop_.stopped();
    auto answered = parts_.http(call);
    for (auto& [name, value] : call.headers) {
        wipe(value);
    }
    return answered;
}

// Twilio's own address gets the credential and nobody else's does. It answers with the file, or
// with where it lies: an address for a short while, which needs none.
Result<DownloadedFile> TwilioPlatform::download(const FileQuestion& question) {
    const std::string own = parts_.config.api_base + "/";
    if (!question.file.file_id.starts_with(own)) {
        return fail(errors::not_found, "The address of the file is not one of Twilio's.");
    }
    auto answered = ask_file(question.file.file_id, question, Credential::with);
    if (answered && answered->status >= 300 && answered->status < 400) {
        const std::string place = header_of(*answered, "location");
        if (!place.starts_with("https://") && !place.starts_with(own)) {
            return fail(errors::not_found, "Twilio did not say where the file is.");
        }
        answered = ask_file(place, question, Credential::without);
    }
    if (!answered || answered->status >= 500 || answered->status == 429) {
        return fail(errors::unavailable, "The file could not be fetched from Twilio.");
    }
    if (answered->status != 200) {
        return fail(errors::not_found, "Twilio has no such file.");
    }
    return DownloadedFile{
        .bytes = std::move(answered->body),
        .content_type = header_of(*answered, "content-type"),
        .filename = disposition_name(header_of(*answered, "content-disposition"))};
}

WebhookAnswer TwilioPlatform::receive(const WebhookRequest& request) {
    // Twilio signs the address that it was told, where the plus of a number may be escaped; what a
    // proxy made of it is not known there.
    WebhookRequest signed_request = request;
    const std::size_t query = request.url.find('?');
    const std::string rest = query == std::string::npos ? std::string() : request.url.substr(query);
    WebhookVerdict verdict;
    for (const std::string& told :
         {parts_.config.public_url, with_escaped_plus(parts_.config.public_url)}) {
        signed_request.url = told + rest;
        verdict = verify_twilio(signed_request, parts_.config.auth_token.reveal());
        if (verdict.accepted) {
            break;
        }
    }
    if (!verdict.accepted) {
        return refuse_webhook(403, verdict.code);
    }
    // It is genuine: a refusal of something that is no message would only be repeated.
    const auto form = read_form(request.body);
    auto normalised = normalise_twilio(form.value_or(FormFields()));
    if (!normalised) {
        log_warn("twilio_webhook_unreadable", {{"why", normalised.error().message}});
    }
    WebhookAnswer answer;
    answer.content_type = "text/xml";
    answer.body = kEmptyTwiml;
    if (normalised && normalised->event) {
        PlatformArrival arrival;
        arrival.bot = bot_;
        arrival.event = *std::move(normalised->event);
        arrival.event.is_own_bot = arrival.event.event.source.user_id == parts_.config.from;
        answer.arrivals.push_back(std::move(arrival));
    }
    return answer;
}

}  // namespace interlock
