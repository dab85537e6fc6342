#include "relay/platforms/wecom/wecom_platform.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "base/text.h"
#include "relay/platforms/common/file_answer.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/platforms/wecom/wecom_json.h"

namespace interlock {
namespace {

constexpr std::string_view kName = "WeCom";
constexpr std::string_view kTaken = "success";
constexpr std::int64_t kBusy = -1;

WebhookAnswer refuse_webhook(int status, std::string why) {
    WebhookAnswer answer;
    answer.status = status;
    answer.refusal = std::move(why);
    return answer;
}

WebhookAnswer plain_answer(std::string_view body) {
    WebhookAnswer answer;
    answer.content_type = "text/plain";
    answer.body = body;
    return answer;
}

std::string field(const FormFields& fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &FormFields::value_type::first);
    return found == fields.end() ? std::string() : found->second;
}

FormFields query_of(const WebhookRequest& request) {
    const std::size_t start = request.url.find('?');
    if (start == std::string::npos) {
        return {};
    }
    const std::string_view query = std::string_view(request.url).substr(start + 1);
    return read_form(query.substr(0, query.find('#'))).value_or(FormFields());
}

// WeCom's own answers have no name and are JSON or text.
bool is_file(const PlatformHttpAnswer& answer) {
    const std::string type = header_of(answer, "content-type");
    return !header_of(answer, "content-disposition").empty() ||
           (!type.empty() && !type.starts_with("application/json") && !type.starts_with("text/"));
}

// A request without a good signature gets 401, a signed one that cannot be read 400.
WebhookAnswer refuse_message(WecomCode code) {
    const bool is_foreign = code == WecomCode::bad_signature || code == WecomCode::stale;
    return refuse_webhook(is_foreign ? 401 : 400, std::to_string(static_cast<int>(code)));
}

// One member: '|' joins several, and "@all" is everybody.
bool is_member(std::string_view user_id) {
    return !user_id.empty() && !user_id.starts_with('@') &&
           user_id.find('|') == std::string_view::npos;
}

}  // namespace

WecomPlatform::WecomPlatform(Parts parts)
    : parts_(std::move(parts)),
      bot_{"wecom", parts_.config.bot_id},
      wait_(parts_.wait ? parts_.wait : [this](Duration span) { return stop_.wait(span); }),
      pace_(kWecomPace, kWecomChatPace) {}

CapabilityDescriptor WecomPlatform::descriptor() const {
    CapabilityDescriptor descriptor;
    descriptor.platform = bot_.platform;
    descriptor.label = kName;
    descriptor.max_message_length = kWecomCharactersMax;
    descriptor.len_unit = LengthUnit::code_points;
    descriptor.emoji = "\U0001F4AC";
    descriptor.supported_ops = {"send", "get_chat_info"};
    return descriptor;
}

PlatformHealth WecomPlatform::health() const {
    if (is_secret_wrong_) {
        return {
            .is_connected = is_started_,
            .is_broken = true,
            .detail = "WeCom does not take the corp id and secret, so nothing can be sent."};
    }
    const bool is_started = is_started_;
    return {
        .is_connected = is_started,
        .is_broken = false,
        .detail = is_started ? "waiting for callbacks" : "stopped"};
}

void WecomPlatform::start(PlatformInbox&, std::string) {
    is_started_ = true;
}

void WecomPlatform::stop() {
    stop_.stop();
    is_started_ = false;
}

std::string WecomPlatform::masked(std::string_view text, std::string_view token) const {
    return without_secret(without_secret(text, parts_.config.corp_secret.reveal()), token);
}

PlatformReply WecomPlatform::call(const PlatformCall& call) {
    if (const auto* const question = std::get_if<GetChatInfoAction>(&call.action)) {
        PlatformReply reply = sent_reply();
        reply.chat_info = ChatInfo{.name = question->chat_id, .type = "dm"};
        return reply;
    }
    const auto* const message = std::get_if<SendAction>(&call.action);
    if (message == nullptr) {
        return unsupported_reply(kName, op_of(call.action));
    }
    if (message->content.empty() || !is_member(message->chat_id)) {
        return refused_reply("invalid_request", "A message needs one member and a text.");
    }
    if (message->content.size() > kWecomTextBytesMax) {
        return refused_reply("too_long", "WeCom takes texts of up to 2048 bytes.");
    }
    return run_paced(
        {.clock = parts_.clock,
         .wait = wait_,
         .pace = pace_,
         .chat_id = message->chat_id,
         .not_after = call.not_after},
        [&] { return attempt(*message); });
}

PlatformReply WecomPlatform::attempt(const SendAction& action) {
    PlatformReply reply;
    SecretString token;
    // A stale token is a definite no, so the second try cannot be a second message.
    for (int tries = 0; tries < 2; ++tries) {
        auto fetched = access_token(token.reveal());
        if (!fetched) {
            return fetched.error();
        }
        token = *std::move(fetched);
        PlatformHttpCall call;
        call.url = parts_.config.api_base +
                   "/cgi-bin/message/send?access_token=" + percent_encode(token.reveal());
        call.headers = {{"content-type", "application/json"}};
        call.body = wecom_text_body(action.chat_id, parts_.config.agent_id, action.content);
        const auto answered = parts_.http(call);
        wipe(call.url);
        if (!answered) {
            return failed_reply(kName, answered.error());
        }
        const auto answer = read_wecom_answer(answered->body);
        if (answered->status >= 400 && answered->status < 500) {
            return refused_reply("refused", "WeCom refused this.");
        }
        if (answered->status != 200 || !answer) {
            return failed_reply(kName, HttpFailure::unknown);
        }
        reply = wecom_reply(
            *answer, [&](std::string_view text) { return masked(text, token.reveal()); });
        if (!is_stale_token(answer->code)) {
            return reply;
        }
    }
    return reply;
}

std::expected<SecretString, PlatformReply> WecomPlatform::access_token(std::string_view stale) {
    const std::lock_guard lock(mutex_);
    // Another call may have renewed it meanwhile.
    const bool is_good = !token_.text.empty() && token_.text.reveal() != stale &&
                         parts_.clock.monotonic() < token_.expires_at;
    if (is_good) {
        return token_.text.clone();
    }
    return fetch_token();
}

std::expected<SecretString, PlatformReply> WecomPlatform::fetch_token() {
    PlatformHttpCall call;
    call.method = "GET";
    call.url = parts_.config.api_base +
               "/cgi-bin/gettoken?corpid=" + percent_encode(parts_.config.corp_id) +
               "&corpsecret=" + percent_encode(parts_.config.corp_secret.reveal());
    const auto answered = parts_.http(call);
    wipe(call.url);
    auto answer = answered && answered->status == 200 ? read_wecom_answer(answered->body)
                                                      : std::optional<WecomAnswer>();
    if (!answer || answer->code == -1) {
        // Whatever became of this question: the message itself has not left.
        return std::unexpected(failed_reply(kName, HttpFailure::not_sent));
    }
    if (answer->code != 0 || answer->access_token.empty()) {
        PlatformReply reply =
            wecom_reply(*answer, [this](std::string_view text) { return masked(text, {}); });
        is_secret_wrong_ = reply.code == "unauthenticated";
        reply.outcome = CallOutcome::not_sent;
        return std::unexpected(std::move(reply));
    }
    is_secret_wrong_ = false;
    const Duration lifetime = Duration::of_seconds(
        std::clamp<std::int64_t>(answer->expires_in, 0, kRateLimitMax.microseconds / 1'000'000));
    token_.text = answer->access_token.clone();
    token_.expires_at = {
        parts_.clock.monotonic().microseconds +
        std::max(lifetime.microseconds - kWecomTokenMargin.microseconds, std::int64_t{0})};
    return std::move(answer->access_token);
}

std::expected<PlatformHttpAnswer, HttpFailure> WecomPlatform::ask_file(
    const FileQuestion& question, std::string_view token) const {
    PlatformHttpCall call;
    call.method = "GET";
    call.url = parts_.config.api_base + "/cgi-bin/media/get?access_token=" + percent_encode(token) +
               "&media_id=" + percent_encode(question.file.file_id);
    call.timeout = question.timeout;
    call.answer_bytes_max = question.bytes_max;
    call.is_cancelled = &stop_.stopped();
    auto answered = parts_.http(call);
    wipe(call.url);
    return answered;
}

// A file comes as it is; anything else comes as the JSON of an answer, with 200 as well.
Result<DownloadedFile> WecomPlatform::download(const FileQuestion& question) {
    SecretString token;
    for (int tries = 0; tries < 2; ++tries) {
        auto fetched = access_token(token.reveal());
        if (!fetched) {
            return fail(errors::unavailable, "WeCom gave no access token.");
        }
        token = *std::move(fetched);
        auto answered = ask_file(question, token.reveal());
        if (!answered || answered->status >= 500) {
            return fail(errors::unavailable, "The file could not be fetched from WeCom.");
        }
        if (answered->status != 200) {
            return fail(errors::not_found, "WeCom has no such file for this application.");
        }
        const auto answer = is_file(*answered) ? std::nullopt : read_wecom_answer(answered->body);
        if (!answer) {
            return DownloadedFile{
                .bytes = std::move(answered->body),
                .content_type = header_of(*answered, "content-type"),
                .filename = disposition_name(header_of(*answered, "content-disposition"))};
        }
        if (!is_stale_token(answer->code)) {
            return answer->code == kBusy
                       ? fail(errors::unavailable, "WeCom was busy.")
                       : fail(errors::not_found, "WeCom has no such file for this application.");
        }
    }
    return fail(errors::unavailable, "WeCom takes no access token.");
}

WecomMessage WecomPlatform::open(const WebhookRequest& request, std::string encrypt) const {
    const FormFields query = query_of(request);
    const WecomSecrets secrets{
        .token = std::string(parts_.config.callback_token.reveal()),
        .encoding_aes_key = std::string(parts_.config.encoding_aes_key.reveal()),
        .receive_id = parts_.config.corp_id};
    return open_wecom(
        secrets,
        {.msg_signature = field(query, "msg_signature"),
         .timestamp = field(query, "timestamp"),
         .nonce = field(query, "nonce"),
         .encrypt = std::move(encrypt),
         .now_seconds = request.now_seconds.value_or(parts_.clock.now().microseconds / 1'000'000)});
}

WebhookAnswer WecomPlatform::receive(const WebhookRequest& request) {
    if (request.method == "GET") {
        // WeCom tries the address: it wants its own words back, in clear.
        const WecomMessage echo = open(request, field(query_of(request), "echostr"));
        return echo.code == WecomCode::ok ? plain_answer(echo.text) : refuse_message(echo.code);
    }
    auto encrypted = wecom_encrypted(request.body);
    if (!encrypted) {
        return refuse_webhook(400, "There is no encrypted message.");
    }
    const WecomMessage message = open(request, *std::move(encrypted));
    if (message.code != WecomCode::ok) {
        return refuse_message(message.code);
    }
    auto normalised = normalise_wecom(message.text);
    if (!normalised) {
        // WeCom gives up after a few tries; taking what nobody read would hide that it is lost.
        log_warn("wecom_callback_unreadable", {{"why", normalised.error().message}});
        return refuse_webhook(400, normalised.error().message);
    }
    WebhookAnswer answer = plain_answer(kTaken);
    if (normalised->event) {
        PlatformArrival arrival;
        arrival.bot = bot_;
        arrival.event = *std::move(normalised->event);
        answer.arrivals.push_back(std::move(arrival));
    }
    return answer;
}

}  // namespace interlock
