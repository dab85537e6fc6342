// Arbitrary relay values for property tests: every field set or not, texts of any kind that JSON
// can carry.
#pragma once

#include <rapidcheck.h>

#include <string>

#include "relay/wire/message_event.h"

namespace interlock {

inline std::string draw_text() {
    static const std::vector<std::string> kPieces = {
        "a", "Z", "9", " ", ":", "\"", "\\", "\n", "é", "中", "😀", "\xE2\x80\xAE", "\x01"};
    std::string text;
    const int count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) {
        text += *rc::gen::elementOf(kPieces);
    }
    return text;
}

inline SessionSource draw_source() {
    SessionSource source;
    source.platform =
        *rc::gen::element<std::string>("discord", "telegram", "sms", "wecom", "slack");
    source.chat_id = draw_text();
    source.chat_type = *rc::gen::element<std::string>("dm", "group", "channel", "thread", "forum");
    for (std::string* const text :
         {&source.chat_name,
          &source.user_id,
          &source.user_name,
          &source.thread_id,
          &source.chat_topic,
          &source.user_id_alt,
          &source.chat_id_alt,
          &source.scope_id,
          &source.parent_chat_id,
          &source.message_id,
          &source.profile,
          &source.auto_thread_initial_name,
          &source.prospective_thread_id}) {
        *text = draw_text();
    }
    source.auto_thread_created = *rc::gen::arbitrary<bool>();
    return source;
}

inline MessageEvent draw_event() {
    MessageEvent event;
    event.text = draw_text();
    event.type = static_cast<MessageType>(*rc::gen::inRange(0, 9));
    event.message_id = draw_text();
    event.reply_to_message_id = draw_text();
    event.media_urls.assign(static_cast<std::size_t>(*rc::gen::inRange(0, 3)), draw_text());
    event.source = draw_source();
    if (*rc::gen::arbitrary<bool>()) {
        event.reply_to = RepliedMessage{
            .text = draw_text(), .author = draw_text(), .is_own = *rc::gen::arbitrary<bool>()};
    }
    if (*rc::gen::arbitrary<bool>()) {
        event.prompt_response = PromptResponse{
            .prompt_id = "p" + draw_text(),
            .option_id = "o" + draw_text(),
            .label = draw_text(),
            .prompt_message_id = draw_text()};
        event.media.push_back(
            {.url = "u" + draw_text(),
             .kind = draw_text(),
             .mime = draw_text(),
             .size = *rc::gen::inRange<std::int64_t>(0, 1000),
             .filename = draw_text(),
             .caption = draw_text()});
        event.context.push_back(
            {.text = "t" + draw_text(), .user_name = draw_text(), .user_id = draw_text()});
        event.context_error = draw_text();
    }
    return event;
}

}  // namespace interlock
