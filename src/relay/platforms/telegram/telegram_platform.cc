#include "relay/platforms/telegram/telegram_platform.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "base/match.h"
#include "relay/platforms/telegram/telegram_markup.h"

namespace interlock {
namespace {

constexpr std::string_view kName = "Telegram";
constexpr std::chrono::milliseconds kNoticeWait{500};

std::string text_of(const RelayAction& action) {
    return match(
        action,
        [](const SendAction& held) { return held.content; },
        [](const EditAction& held) { return held.content; },
        [](const SendMediaAction& held) { return held.content; },
        [](const PromptAction& held) { return held.content; },
        [](const auto&) { return std::string(); });
}

// A quiet action shows no message, so it is neither paced as one nor ever unknown.
bool is_quiet(const RelayAction& action) {
    return std::holds_alternative<TypingAction>(action) ||
           std::holds_alternative<GetChatInfoAction>(action);
}

WebhookAnswer refuse_webhook(int status, std::string why) {
    WebhookAnswer answer;
    answer.status = status;
    answer.refusal = std::move(why);
    return answer;
}

}  // namespace

TelegramPlatform::TelegramPlatform(Parts parts)
    : parts_(std::move(parts)),
      bot_{"telegram", parts_.config.bot_id},
      wait_(parts_.wait ? parts_.wait : [this](Duration span) { return stop_.wait(span); }),
      api_(
          {.api_base = parts_.config.api_base,
           .token = parts_.config.token.clone(),
           .http = parts_.http,
           .is_stopped = stop_.stopped()}),
      pace_(kTelegramPace, kTelegramChatPace),
      quiet_pace_(kTelegramPace, kTelegramQuietPace),
      username_(parts_.config.username) {
    health_.detail = "not started";
}

BotIdentity TelegramPlatform::identity() const {
    const std::lock_guard lock(mutex_);
    return {bot_.bot_id, username_};
}

CapabilityDescriptor TelegramPlatform::descriptor() const {
    CapabilityDescriptor descriptor;
    descriptor.platform = bot_.platform;
    descriptor.label = kName;
    descriptor.max_message_length = kTelegramTextMax;
    descriptor.supports_edit = true;
    descriptor.supports_threads = true;
    descriptor.markdown_dialect = "markdown_v2";
    descriptor.len_unit = LengthUnit::utf16;
    descriptor.emoji = "\u2708\uFE0F";
    descriptor.platform_hint =
        "Standard Markdown is shown with its markup; so is MarkdownV2 that escapes what it must.";
    descriptor.supported_ops = {
        "send",
        "edit",
        "typing",
        "get_chat_info",
        "send_media",
        "prompt",
        "react",
        "thread_create",
        "thread_rename"};
    return descriptor;
}

PlatformHealth TelegramPlatform::health() const {
    const std::lock_guard lock(mutex_);
    return health_;
}

void TelegramPlatform::set_health(PlatformHealth health) {
    const std::lock_guard lock(mutex_);
    health_ = std::move(health);
}

void TelegramPlatform::start(PlatformInbox& inbox, std::string) {
    if (receiver_.joinable() || stop_.is_stopped()) {
        return;
    }
    set_health({.detail = "connecting"});
    receiver_ = std::thread([this, &inbox] { run(inbox); });
    if (!uses_webhook()) {
        notifier_ = std::thread([this] { send_notices(); });
    }
}

void TelegramPlatform::stop() {
    stop_.stop();
    order_->stop();
    notices_->close();
    for (std::thread* const thread : {&receiver_, &notifier_}) {
        if (thread->joinable()) {
            thread->join();
        }
    }
    set_health({.detail = "stopped"});
}

PlatformReply TelegramPlatform::call(const PlatformCall& call) {
    const auto* const typing = std::get_if<TypingAction>(&call.action);
    if (typing != nullptr && typing->is_clear) {
        return sent_reply();  // It ends by itself after seconds.
    }
    return run_paced(
        {.clock = parts_.clock,
         .wait = wait_,
         .pace = is_quiet(call.action) ? quiet_pace_ : pace_,
         .chat_id = chat_of(call.action),
         .not_after = call.not_after},
        [&] { return attempt(call); });
}

PlatformReply TelegramPlatform::attempt(const PlatformCall& call) {
    bool cannot_parse = false;
    const bool is_caption = std::holds_alternative<SendMediaAction>(call.action);
    const TelegramStyle style{
        .markup = telegram_markup(
            text_of(call.action),
            is_caption ? kTelegramCaptionMax : std::size_t{kTelegramTextMax})};
    PlatformReply reply = perform(call, style, cannot_parse);
    // A 400 is a definite no, so the second try cannot be a second message.
    return cannot_parse ? perform(call, {}, cannot_parse) : reply;
}

PlatformReply TelegramPlatform::perform(
    const PlatformCall& call, const TelegramStyle& style, bool& cannot_parse) {
    cannot_parse = false;
    const auto request = telegram_request(call, style);
    if (!request) {
        return request.error();
    }
    TelegramApi::Patience patience;
    if (!call.media_bytes.empty()) {
        patience.timeout = Duration::of_minutes(1);
    }
    const auto answer = api_.ask(*request, patience);
    if (!answer) {
        const bool is_harmless = is_quiet(call.action);
        return failed_reply(kName, is_harmless ? HttpFailure::not_sent : answer.error().kind);
    }
    if (answer->is_ok) {
        return taken_by_telegram(call.action, answer->result);
    }
    if (const auto* const edit = std::get_if<EditAction>(&call.action);
        edit != nullptr && is_not_modified(*answer)) {
        return sent_reply(edit->message_id);
    }
    cannot_parse = !style.markup.empty() && is_parse_problem(*answer);
    return refused_by_telegram(*answer, api_.token());
}

WebhookAnswer TelegramPlatform::receive(const WebhookRequest& request) {
    if (!uses_webhook()) {
        return refuse_webhook(404, "This bot fetches its messages and has no webhook.");
    }
    const WebhookVerdict verdict = verify_telegram(request, parts_.config.webhook_secret.reveal());
    if (!verdict.accepted) {
        return refuse_webhook(verdict.code == "bad_body" ? 400 : 401, verdict.code);
    }
    const BotIdentity self = identity();
    if (self.username.empty()) {
        return refuse_webhook(503, "The bot does not know its own name yet.");
    }
    const Json update = parse_json(request.body).value();  // Checked by the verdict.
    auto normalised = normalise_telegram(update, self);
    if (!normalised) {
        // It is genuine: a refusal would only make Telegram send it again.
        log_warn("telegram_update_unreadable", {{"why", normalised.error().message}});
    }
    WebhookAnswer answer;
    if (const std::string id = callback_id_of(update); !id.empty()) {
        answer.content_type = "application/json";
        answer.body = answer_callback_body(id, "");
        answer.undelivered_body = [id](const InboxAnswer& given) {
            return answer_callback_body(id, given.notice);
        };
    }
    if (normalised && normalised->event) {
        PlatformArrival arrival;
        arrival.bot = bot_;
        arrival.event = *std::move(normalised->event);
        answer.arrivals.push_back(std::move(arrival));
    }
    return answer;
}

Result<DownloadedFile> TelegramPlatform::download(const FileQuestion& question) {
    const std::size_t bytes_max = std::min(question.bytes_max, kTelegramDownloadBytesMax);
    const auto is_large = [bytes_max](const std::optional<std::int64_t>& size) {
        return size.value_or(0) > static_cast<std::int64_t>(bytes_max);
    };
    if (is_large(question.file.size)) {
        return fail(errors::body_too_large, "The file is larger than a bot may fetch.");
    }
    const auto answer = api_.ask(
        get_file_request(question.file.file_id),
        {.timeout = question.timeout, .ends_with_stop = true});
    if (!answer) {
        return fail(errors::unavailable, "Telegram did not say where the file is.");
    }
    if (is_too_big(*answer)) {
        return fail(errors::body_too_large, "The file is larger than a bot may fetch.");
    }
    if (answer->retry_after) {
        return fail(errors::unavailable, "Telegram asks to wait.");
    }
    const auto file = answer->is_ok ? read_file(answer->result) : std::nullopt;
    if (!file) {
        return fail(errors::not_found, "Telegram has no such file for this bot.");
    }
    if (is_large(file->size)) {
        return fail(errors::body_too_large, "The file is larger than a bot may fetch.");
    }
    auto bytes = api_.fetch(file->path, {.timeout = question.timeout, .bytes_max = bytes_max});
    if (!bytes) {
        return fail(errors::unavailable, "The file could not be fetched from Telegram.");
    }
    return DownloadedFile{
        .bytes = *std::move(bytes),
        .content_type = {},
        .filename = file->path.substr(file->path.rfind('/') + 1)};
}

void TelegramPlatform::run(PlatformInbox& inbox) {
    while (!stop_.is_stopped() && !learn_identity() && pause()) {
    }
    if (uses_webhook()) {
        while (!stop_.is_stopped() && !set_webhook() && pause()) {
        }
        return;
    }
    while (!stop_.is_stopped()) {
        poll(inbox);
    }
}

bool TelegramPlatform::pause() {
    const bool goes_on = wait_(pause_);
    pause_ = std::min(Duration{pause_.microseconds * 2}, kTelegramPauseMax);
    return goes_on && !stop_.is_stopped();
}

// Whatever is wrong is tried again once a minute: people mend tokens and remove webhooks.
void TelegramPlatform::note_answer(const std::expected<TelegramAnswer, TelegramFailure>& answer) {
    if (answer && answer->is_ok) {
        pause_ = kTelegramPauseMin;
        set_health({.is_connected = true, .is_broken = false, .detail = "receiving"});
        return;
    }
    if (!answer) {
        set_health({.detail = "Telegram cannot be reached; it is tried again."});
        return;
    }
    if (is_webhook_conflict(*answer)) {
        set_health(
            {.is_broken = true,
             .detail = "A webhook is set for this bot, so its messages cannot be fetched. Remove "
                       "the webhook with deleteWebhook, or configure public_url."});
        pause_ = kTelegramPauseMax;
        return;
    }
    const PlatformReply reply = refused_by_telegram(*answer, api_.token());
    const bool is_wrong = reply.code == "unauthenticated";
    set_health(
        {.is_broken = is_wrong,
         .detail = is_wrong ? "Telegram does not know the bot's token." : reply.error});
    if (is_wrong) {
        pause_ = kTelegramPauseMax;
    } else if (reply.retry_after) {
        pause_ = std::max(pause_, *reply.retry_after);
    }
}

bool TelegramPlatform::learn_identity() {
    if (!identity().username.empty()) {
        return true;
    }
    const auto answer = api_.ask(get_me_request(), {.ends_with_stop = true});
    if (!answer || !answer->is_ok) {
        note_answer(answer);
        return false;
    }
    const std::lock_guard lock(mutex_);
    username_ = username_of(answer->result);
    return !username_.empty();
}

bool TelegramPlatform::set_webhook() {
    const std::string_view secret = parts_.config.webhook_secret.reveal();
    const auto answer =
        api_.ask(set_webhook_request(parts_.config.public_url, secret), {.ends_with_stop = true});
    note_answer(answer);
    return answer && answer->is_ok;
}

void TelegramPlatform::poll(PlatformInbox& inbox) {
    auto updates = fetch_updates();
    if (!updates) {
        if (!stop_.is_stopped()) {
            pause();
        }
        return;
    }
    if (updates->empty()) {
        // Everything before the offset is confirmed now. Without it the numbers may begin anew.
        offset_.reset();
        return;
    }
    if (!take(inbox, *std::move(updates)) && !stop_.is_stopped()) {
        pause();
    }
}

std::optional<std::vector<TelegramUpdate>> TelegramPlatform::fetch_updates() {
    const auto answer = api_.ask(
        get_updates_request(
            {.offset = offset_,
             .limit = limit_,
             .timeout_seconds = has_fetched_ ? kTelegramPollSeconds : 0}),
        {.timeout = Duration::of_seconds(kTelegramPollSeconds + 10),
         .answer_bytes_max = kTelegramPollBytesMax,
         .ends_with_stop = true});
    if (stop_.is_stopped()) {
        return std::nullopt;
    }
    auto updates = answer && answer->is_ok ? read_updates(answer->result)
                                           : std::optional<std::vector<TelegramUpdate>>();
    has_fetched_ = has_fetched_ || updates.has_value();
    if (answer && answer->is_ok && !updates) {
        set_health({.detail = "Telegram answered with something else than updates."});
        return std::nullopt;
    }
    note_answer(answer);
    if (updates) {
        limit_ = std::min(limit_ * 2, kTelegramUpdatesMax);
        std::ranges::sort(*updates, {}, &TelegramUpdate::id);
        return updates;
    }
    // An answer that is too large or holds one thing that cannot be read must not hold everything
    // up for ever: fewer are asked for, and at last the one alone is passed over.
    if (!answer && answer.error().unreadable_update && limit_ == 1) {
        log_warn("telegram_update_unreadable", {{"update_id", *answer.error().unreadable_update}});
        offset_ = *answer.error().unreadable_update + 1;
    }
    if (!answer && answer.error().kind == HttpFailure::unknown) {
        limit_ = std::max<std::int64_t>(limit_ / 2, 1);
    }
    return std::nullopt;
}

// False: not everything was stored.
bool TelegramPlatform::take(PlatformInbox& inbox, std::vector<TelegramUpdate> updates) {
    std::vector<std::int64_t> ids;
    for (const TelegramUpdate& update : updates) {
        ids.push_back(update.id);
    }
    for (TelegramUpdate& update : updates) {
        if (order_->is_stored(update.id)) {
            continue;
        }
        auto normalised = normalise_telegram(update.json, identity());
        if (!normalised || !normalised->event) {
            if (!normalised) {
                log_warn(
                    "telegram_update_unreadable",
                    {{"update_id", update.id}, {"why", normalised.error().message}});
            }
            order_->settle(update.id, true);
            if (!update.callback_id.empty()) {
                notices_->push({std::move(update.callback_id), {}});
            }
            continue;
        }
        const std::string& chat_id = normalised->event->event.source.chat_id;
        if (!order_->await_chat(chat_id)) {
            break;
        }
        order_->begin(update.id, chat_id);
        PlatformArrival arrival;
        arrival.bot = bot_;
        arrival.event = *std::move(normalised->event);
        inbox.submit(
            std::move(arrival),
            [order = order_,
             notices = notices_,
             id = update.id,
             callback_id = std::move(update.callback_id)](const InboxAnswer& answer) {
                if (answer.is_stored && !callback_id.empty()) {
                    notices->push({callback_id, answer.is_delivered ? "" : answer.notice});
                }
                order->settle(id, answer.is_stored);
            });
    }
    if (!order_->await_all()) {
        return false;
    }
    const UpdateOrder::Progress progress = order_->advance(ids);
    if (progress.offset) {
        offset_ = progress.offset;
    }
    return progress.is_complete;
}

// Telegram shows a pressed button as busy until it is answered; that must hold up nothing else.
void TelegramPlatform::send_notices() {
    while (!notices_->is_closed()) {
        for (const Notice& notice : notices_->pop(1, kNoticeWait)) {
            const auto answer = api_.ask(
                answer_callback_request(notice.callback_id, notice.text),
                {.timeout = Duration::of_seconds(5), .ends_with_stop = true});
            if (!answer || !answer->is_ok) {
                log_debug("telegram_button_unanswered");
            }
        }
    }
}

}  // namespace interlock
