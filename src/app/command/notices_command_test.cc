#include "app/command/notices_command.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(NoticesCommand, HasAWordForEachCallOfAHuman) {
    CommandLine line;
    add_notices_command(line);
    const CLI::App* const notices = line.app.get_subcommand("notices");
    for (const char* word : {"show", "letters", "test"}) {
        EXPECT_NO_THROW(notices->get_subcommand(word)) << word;
    }
    for (const char* word : {"set", "remove"}) {
        EXPECT_NO_THROW(notices->get_subcommand("webhook")->get_subcommand(word)) << word;
    }
}

TEST(NoticesCommand, SaysWhatIsToldWhereAndWhatHasNotLeft) {
    const std::string text = describe_notices(*parse_json(
        R"({"letters":["approval","blocked"],"webhook":{"host":"hooks.example","set_by":"human:h",
            "set_at":"2026-01-01T00:00:00Z"},"outlets":[{"to":"webhook","kind":null,"waiting":2,
            "attempts":1,"next_at":null,"last_error":"webhook_failed","sent_at":null,
            "took_ms":null,"given_up":0}]})"));
    for (const char* said : {"approval, blocked", "hooks.example", "webhook_failed", "2"}) {
        EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
    }
}

TEST(NoticesCommand, SaysThatNothingWasToldYet) {
    const std::string text =
        describe_notices(*parse_json(R"({"letters":["approval"],"webhook":null,"outlets":[]})"));
    EXPECT_NE(text.find("Nothing was told yet."), std::string::npos);
}

}  // namespace
}  // namespace interlock
