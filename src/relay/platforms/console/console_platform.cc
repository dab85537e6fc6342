#include "relay/platforms/console/console_platform.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/match.h"
#include "base/text.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/rules/message_split.h"

namespace interlock {
namespace {

constexpr std::string_view kPlatform = "local";
constexpr std::string_view kDmPrefix = "dm:";
// Nobody else uses it, so there is no pace but what a test asks for.
constexpr PaceRule kNoPace{.interval = {}, .burst = 1};

bool is_dm(std::string_view chat_id) {
    return chat_id.starts_with(kDmPrefix);
}

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= kConsoleNameBytesMax && is_valid_utf8(text) &&
           std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

Result<void> check_place(const std::string& user, const std::string& chat_id) {
    if (!is_name(user) || !is_name(chat_id)) {
        return fail(errors::invalid_request, "A user and a chat have names of 1 to 128 bytes.");
    }
    if (is_dm(chat_id) && chat_id.substr(kDmPrefix.size()) != user) {
        return fail(errors::invalid_request, "This conversation is between others.");
    }
    return {};
}

bool is_too_long(const std::string& text) {
    return length_in(text, LengthUnit::code_points) > kConsoleLengthMax;
}

PlatformReply no_such_message() {
    return refused_reply("not_found", "There is no such message of the bot in this chat.");
}

PlatformReply too_long() {
    return refused_reply("too_long", "The text is longer than one message may be.");
}

PlatformReply empty_text() {
    return refused_reply("invalid_request", "A message needs a text.");
}

std::unexpected<Error> not_started() {
    return fail(errors::unavailable, "The console is not receiving.");
}

}  // namespace

ConsolePlatform::ConsolePlatform(Parts parts)
    : parts_(std::move(parts)),
      bot_{std::string(kPlatform), parts_.bot_id},
      wait_(parts_.wait ? parts_.wait : [this](Duration span) { return stop_.wait(span); }),
      pace_(kNoPace, kNoPace) {}

CapabilityDescriptor ConsolePlatform::descriptor() const {
    CapabilityDescriptor descriptor;
    descriptor.platform = kPlatform;
    descriptor.label = "Console";
    descriptor.max_message_length = kConsoleLengthMax;
    descriptor.supports_edit = true;
    descriptor.supports_threads = true;
    descriptor.markdown_dialect = "markdown";
    descriptor.emoji = "\U0001F4BB";
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

PlatformHealth ConsolePlatform::health() const {
    const std::lock_guard lock(mutex_);
    return {
        .is_connected = inbox_ != nullptr,
        .is_broken = false,
        .detail = inbox_ != nullptr ? "receiving" : "stopped"};
}

void ConsolePlatform::start(PlatformInbox& inbox, std::string) {
    const std::lock_guard lock(mutex_);
    inbox_ = &inbox;
}

void ConsolePlatform::stop() {
    stop_.stop();
    const std::lock_guard no_submission(submit_mutex_);
    const std::lock_guard lock(mutex_);
    inbox_ = nullptr;
}

WebhookAnswer ConsolePlatform::receive(const WebhookRequest&) {
    WebhookAnswer answer;
    answer.status = 404;
    answer.refusal = "The console has no webhook.";
    return answer;
}

ConsolePlatform::Chat& ConsolePlatform::chat_of_id(const std::string& chat_id) {
    auto found = chats_.find(chat_id);
    if (found == chats_.end()) {
        if (chats_.size() >= parts_.chats_max) {
            chats_.erase(std::ranges::min_element(
                chats_, {}, [](const auto& entry) { return entry.second.used; }));
        }
        found = chats_.try_emplace(chat_id).first;
    }
    found->second.used = ++uses_;
    return found->second;
}

ConsoleMessage* ConsolePlatform::find_in(
    const std::string& chat_id, const std::string& message_id) {
    const auto chat = chats_.find(chat_id);
    if (chat == chats_.end()) {
        return nullptr;
    }
    const auto found = std::ranges::find(
        chat->second.messages, message_id, [](const auto& message) { return message.message_id; });
    return found == chat->second.messages.end() ? nullptr : &*found;
}

const ConsoleMessage& ConsolePlatform::add(ConsoleMessage message) {
    message.message_id = parts_.id_prefix + "m" + std::to_string(next_message_++);
    message.change = ++last_change_;
    Chat& chat = chat_of_id(message.chat_id);
    chat.messages.push_back(std::move(message));
    if (chat.messages.size() > parts_.messages_max) {
        chat.messages.pop_front();
    }
    return chat.messages.back();
}

ConsolePlatform::Arrived ConsolePlatform::arrived_of(const ConsoleMessage& message) const {
    Arrived arrived;
    arrived.id = message.message_id;
    MessageEvent& event = arrived.event;
    event.text = message.text;
    event.type = message.text.starts_with('/') ? MessageType::command : MessageType::text;
    event.message_id = message.message_id;
    event.reply_to_message_id = message.reply_to;
    event.source.platform = kPlatform;
    event.source.chat_id = message.chat_id;
    event.source.chat_name = message.chat_id;
    event.source.chat_type = is_dm(message.chat_id) ? "dm" : "group";
    event.source.user_id = message.user;
    event.source.user_name = message.user;
    event.source.thread_id = message.thread_id;
    event.source.message_id = message.message_id;
    const std::string mention = "@" + to_lower(parts_.bot_name);
    arrived.addresses_bot =
        is_dm(message.chat_id) || to_lower(message.text).find(mention) != std::string::npos;
    return arrived;
}

Result<std::string> ConsolePlatform::say(std::string user, std::string chat_id, std::string text) {
    return say(ConsoleSay{
        .user = std::move(user),
        .chat_id = std::move(chat_id),
        .text = std::move(text),
        .thread_id = {},
        .reply_to = {}});
}

Result<std::string> ConsolePlatform::say(const ConsoleSay& said, Done done) {
    TRY(check_place(said.user, said.chat_id));
    if (said.text.empty() || said.text.size() > kConsoleSaidBytesMax || !is_valid_utf8(said.text)) {
        return fail(errors::invalid_request, "A text is 1 byte to 64 KiB of UTF-8.");
    }
    const std::lock_guard in_order(submit_mutex_);
    Arrived arrived;
    {
        const std::lock_guard lock(mutex_);
        if (inbox_ == nullptr) {
            return not_started();
        }
        if (!said.thread_id.empty() && !threads_.contains(said.thread_id)) {
            return fail(errors::not_found, "There is no such thread.");
        }
        const ConsoleMessage* const replied =
            said.reply_to.empty() ? nullptr : find_in(said.chat_id, said.reply_to);
        std::optional<RepliedMessage> reply;
        if (replied != nullptr) {
            reply = RepliedMessage{
                .text = replied->text,
                .author = replied->user.empty() ? parts_.bot_name : replied->user,
                .is_own = replied->user.empty()};
        }
        ConsoleMessage message;
        message.chat_id = said.chat_id;
        message.user = said.user;
        message.text = said.text;
        message.thread_id = said.thread_id;
        message.reply_to = said.reply_to;
        arrived = arrived_of(add(std::move(message)));
        arrived.addresses_bot = arrived.addresses_bot || (reply && reply->is_own);
        arrived.event.reply_to = std::move(reply);
    }
    std::string id = arrived.id;
    hand_in(std::move(arrived), std::move(done));
    return id;
}

Result<std::string> ConsolePlatform::press(const ConsolePress& pressed, Done done) {
    TRY(check_place(pressed.user, pressed.chat_id));
    const std::lock_guard in_order(submit_mutex_);
    Arrived arrived;
    {
        const std::lock_guard lock(mutex_);
        if (inbox_ == nullptr) {
            return not_started();
        }
        const ConsoleMessage* const prompt = find_in(pressed.chat_id, pressed.prompt_message_id);
        if (prompt == nullptr) {
            return fail(errors::not_found, "There is no such message.");
        }
        const auto option =
            std::ranges::find(prompt->options, pressed.option_id, &PromptOption::id);
        if (option == prompt->options.end()) {
            return fail(errors::not_found, "The message has no such button.");
        }
        ConsoleMessage as_message = *prompt;
        as_message.user = pressed.user;
        as_message.text = "/" + option->id;
        as_message.reply_to.clear();
        arrived = arrived_of(as_message);
        // Each press is an event with an id of its own: clients drop a second one with the same.
        arrived.id = parts_.id_prefix + "p" + std::to_string(next_press_++);
        arrived.addresses_bot = true;
        arrived.event.message_id = arrived.id;
        arrived.event.prompt_response = PromptResponse{
            .prompt_id = prompt->prompt_id,
            .option_id = option->id,
            .label = option->label,
            .prompt_message_id = prompt->message_id};
    }
    std::string id = arrived.id;
    hand_in(std::move(arrived), std::move(done));
    return id;
}

Result<void> ConsolePlatform::send_again(const std::string& id, Done done) {
    const std::lock_guard in_order(submit_mutex_);
    {
        const std::lock_guard lock(mutex_);
        if (inbox_ == nullptr) {
            return not_started();
        }
    }
    Arrived arrived;
    {
        const std::lock_guard lock(refused_->mutex);
        const auto found = std::ranges::find(refused_->list, id, &Arrived::id);
        if (found == refused_->list.end()) {
            return fail(errors::not_found, "Nothing of this id waits to be sent again.");
        }
        arrived = *std::move(found);
        refused_->list.erase(found);
    }
    hand_in(std::move(arrived), std::move(done));
    return {};
}

std::vector<std::string> ConsolePlatform::not_stored() const {
    const std::lock_guard lock(refused_->mutex);
    std::vector<std::string> ids;
    for (const Arrived& arrived : refused_->list) {
        ids.push_back(arrived.id);
    }
    return ids;
}

// Called under submit_mutex_, which stop() takes too, so the inbox is still there.
void ConsolePlatform::hand_in(Arrived arrived, Done done) {
    PlatformArrival arrival;
    arrival.bot = bot_;
    arrival.event.event = arrived.event;
    arrival.event.event_id = arrived.id;
    arrival.event.is_dm = is_dm(arrived.event.source.chat_id);
    arrival.event.discriminator = arrival.event.is_dm ? "" : arrived.event.source.chat_id;
    arrival.event.addresses_bot = arrived.addresses_bot;
    PlatformInbox* inbox = nullptr;
    {
        const std::lock_guard lock(mutex_);
        inbox = inbox_;
    }
    inbox->submit(
        std::move(arrival),
        [refused = refused_, kept = std::move(arrived), told = std::move(done)](
            const InboxAnswer& answer) {
            if (!answer.is_stored) {
                const std::lock_guard lock(refused->mutex);
                refused->list.push_back(kept);
                if (refused->list.size() > kConsoleMessagesMax) {
                    refused->list.pop_front();
                }
            }
            if (told) {
                told(kept.id, answer);
            }
        });
}

std::vector<ConsoleMessage> ConsolePlatform::messages(const std::string& chat_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = chats_.find(chat_id);
    return found == chats_.end()
               ? std::vector<ConsoleMessage>()
               : std::vector<ConsoleMessage>(
                     found->second.messages.begin(), found->second.messages.end());
}

std::vector<ConsoleMessage> ConsolePlatform::changes(
    const std::string& chat_id, std::int64_t change, std::size_t count_max) const {
    std::vector<ConsoleMessage> changed = messages(chat_id);
    std::erase_if(changed, [&](const ConsoleMessage& one) { return one.change <= change; });
    std::ranges::sort(changed, {}, &ConsoleMessage::change);
    changed.resize(std::min(changed.size(), count_max));
    return changed;
}

std::optional<ConsoleMessage> ConsolePlatform::find(
    const std::string& chat_id, const std::string& message_id) const {
    for (const ConsoleMessage& message : messages(chat_id)) {
        if (message.message_id == message_id) {
            return message;
        }
    }
    return std::nullopt;
}

std::string ConsolePlatform::thread_name(const std::string& thread_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = threads_.find(thread_id);
    return found == threads_.end() ? std::string() : found->second;
}

std::size_t ConsolePlatform::typings(const std::string& chat_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = chats_.find(chat_id);
    return found == chats_.end() ? 0 : found->second.typings;
}

bool ConsolePlatform::observe(std::string name, Observer observer) {
    const std::lock_guard lock(mutex_);
    if (observers_.size() >= kConsoleObserversMax && !observers_.contains(name)) {
        return false;
    }
    observers_.insert_or_assign(std::move(name), std::move(observer));
    return true;
}

void ConsolePlatform::stop_observing(const std::string& name) {
    const std::lock_guard lock(mutex_);
    observers_.erase(name);
}

void ConsolePlatform::set_fault(ConsoleFault fault) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
}

PlatformReply ConsolePlatform::call(const PlatformCall& call) {
    return run_paced(
        {.clock = parts_.clock,
         .wait = wait_,
         .pace = pace_,
         .chat_id = chat_of(call.action),
         .not_after = call.not_after},
        [&] { return attempt(call); });
}

// What the fault of a test makes of a call; nothing when it goes on as usual.
std::optional<PlatformReply> ConsolePlatform::faulty(bool& shows) {
    shows = false;
    switch (
        std::exchange(fault_, fault_ == ConsoleFault::limits_once ? ConsoleFault::none : fault_)) {
        case ConsoleFault::none:
            break;
        case ConsoleFault::refuses:
            return refused_reply("forbidden", "The console was told to refuse this.");
        case ConsoleFault::limits_once:
            return limited_reply(kConsoleLimit);
        case ConsoleFault::fails:
            return unknown_reply("The console failed and does not know what became of this.");
        case ConsoleFault::unreachable:
            return failed_reply("The console", HttpFailure::not_sent);
        case ConsoleFault::cuts:
            shows = true;
            return failed_reply("The console", HttpFailure::unknown);
    }
    return std::nullopt;
}

PlatformReply ConsolePlatform::attempt(const PlatformCall& call) {
    Shown shown;
    std::vector<Observer> observers;
    {
        const std::lock_guard lock(mutex_);
        bool shows = true;
        const bool is_known = !std::holds_alternative<UnknownAction>(call.action) &&
                              !std::holds_alternative<FollowUpAction>(call.action);
        const std::optional<PlatformReply> fault =
            is_known ? faulty(shows) : std::optional<PlatformReply>();
        attempts_ += is_known ? 1 : 0;
        if (!fault || shows) {
            shown = perform(call);
        }
        if (fault) {
            shown.reply = *fault;
        }
        for (const auto& [name, observer] : observers_) {
            observers.push_back(observer);
        }
    }
    if (shown.message) {
        for (const Observer& observer : observers) {
            observer(*shown.message, shown.is_edited);
        }
    }
    return shown.reply;
}

ConsolePlatform::Shown ConsolePlatform::perform(const PlatformCall& call) {
    return match(
        call.action,
        [&](const SendAction& action) { return send(action, call); },
        [&](const EditAction& action) { return edit(action); },
        [&](const TypingAction& action) { return type(action); },
        [&](const GetChatInfoAction& action) { return tell(action); },
        [&](const SendMediaAction& action) { return send_media(action, call); },
        [&](const PromptAction& action) { return prompt(action, call); },
        [&](const ReactAction& action) { return react(action); },
        [&](const ThreadCreateAction& action) { return create_thread(action); },
        [&](const ThreadRenameAction& action) { return rename_thread(action); },
        [&](const auto&) {
            return Shown{
                .reply = unsupported_reply("The console", op_of(call.action)), .message = {}};
        });
}

ConsolePlatform::Shown ConsolePlatform::send(const SendAction& action, const PlatformCall& call) {
    if (action.content.empty()) {
        return {.reply = empty_text(), .message = {}};
    }
    if (is_too_long(action.content)) {
        return {.reply = too_long(), .message = {}};
    }
    ConsoleMessage message;
    message.chat_id = action.chat_id;
    message.text = action.content;
    message.thread_id = call.thread_id;
    message.reply_to = action.reply_to;
    const ConsoleMessage& added = add(std::move(message));
    return {.reply = sent_reply(added.message_id), .message = added};
}

ConsolePlatform::Shown ConsolePlatform::edit(const EditAction& action) {
    ConsoleMessage* const message = find_in(action.chat_id, action.message_id);
    if (message == nullptr || !message->user.empty()) {
        return {.reply = no_such_message(), .message = {}};
    }
    if (action.content.empty()) {
        return {.reply = empty_text(), .message = {}};
    }
    if (is_too_long(action.content)) {
        return {.reply = too_long(), .message = {}};
    }
    message->text = action.content;
    ++message->edits;
    message->change = ++last_change_;
    return {.reply = sent_reply(message->message_id), .message = *message, .is_edited = true};
}

ConsolePlatform::Shown ConsolePlatform::type(const TypingAction& action) {
    chat_of_id(action.chat_id).typings += action.is_clear ? 0 : 1;
    return {.reply = sent_reply(), .message = {}};
}

ConsolePlatform::Shown ConsolePlatform::tell(const GetChatInfoAction& action) {
    Shown shown{.reply = sent_reply(), .message = {}};
    shown.reply.chat_info =
        ChatInfo{.name = action.chat_id, .type = is_dm(action.chat_id) ? "dm" : "group"};
    return shown;
}

ConsolePlatform::Shown ConsolePlatform::send_media(
    const SendMediaAction& action, const PlatformCall& call) {
    if (is_too_long(action.content)) {
        return {.reply = too_long(), .message = {}};
    }
    ConsoleMessage message;
    message.chat_id = action.chat_id;
    message.text = action.content;
    message.thread_id = call.thread_id;
    message.reply_to = action.reply_to;
    message.media_kind = action.media_kind;
    message.media_url = call.media_bytes.empty() ? action.source_url : std::string();
    message.media_bytes = call.media_bytes.size();
    const ConsoleMessage& added = add(std::move(message));
    return {.reply = sent_reply(added.message_id), .message = added};
}

ConsolePlatform::Shown ConsolePlatform::prompt(
    const PromptAction& action, const PlatformCall& call) {
    if (is_too_long(action.content)) {
        return {.reply = too_long(), .message = {}};
    }
    ConsoleMessage message;
    message.chat_id = action.chat_id;
    message.text = action.content;
    message.thread_id = call.thread_id;
    message.reply_to = action.reply_to;
    message.prompt_id = action.prompt_id;
    message.options = action.options;
    const ConsoleMessage& added = add(std::move(message));
    return {.reply = sent_reply(added.message_id), .message = added};
}

ConsolePlatform::Shown ConsolePlatform::react(const ReactAction& action) {
    ConsoleMessage* const message = find_in(action.chat_id, action.message_id);
    if (message == nullptr) {
        return {.reply = no_such_message(), .message = {}};
    }
    std::erase(message->reactions, action.emoji);
    if (!action.remove) {
        if (message->reactions.size() >= kConsoleReactionsMax) {
            return {
                .reply = refused_reply("too_many", "The message has as many reactions as it can."),
                .message = {}};
        }
        message->reactions.push_back(action.emoji);
    }
    message->change = ++last_change_;
    return {.reply = sent_reply(message->message_id), .message = *message, .is_edited = true};
}

ConsolePlatform::Shown ConsolePlatform::create_thread(const ThreadCreateAction& action) {
    if (threads_.size() >= kConsoleThreadsMax) {
        return {
            .reply = refused_reply("too_many", "The console has as many threads as it can."),
            .message = {}};
    }
    Shown shown{.reply = sent_reply(), .message = {}};
    shown.reply.thread_id = parts_.id_prefix + "t" + std::to_string(next_thread_++);
    threads_.emplace(shown.reply.thread_id, action.thread_name);
    return shown;
}

ConsolePlatform::Shown ConsolePlatform::rename_thread(const ThreadRenameAction& action) {
    const auto found = threads_.find(action.thread_id);
    if (found == threads_.end()) {
        return {.reply = refused_reply("not_found", "There is no such thread."), .message = {}};
    }
    if (!action.only_if_current_name.empty() && action.only_if_current_name != found->second) {
        return {
            .reply = refused_reply("conflict", "The thread has another name by now."),
            .message = {}};
    }
    found->second = action.thread_name;
    Shown shown{.reply = sent_reply(), .message = {}};
    shown.reply.thread_id = action.thread_id;
    return shown;
}

}  // namespace interlock
