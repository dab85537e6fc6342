#include "relay/service/relay_pieces.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace interlock {
namespace {

const SplitRule kRule{.limit = 40, .unit = LengthUnit::code_points, .keeps_fences = false};

SendAction send(const std::string& text) {
    return {.chat_id = "c1", .content = text, .reply_to = "m0", .metadata = Json::object()};
}

TEST(RelayPieces, OneMessageIsOneCall) {
    const auto calls = make_calls(send("hello"), "c1", kRule);
    ASSERT_EQ(calls.value().size(), 1u);
    EXPECT_EQ(std::get<SendAction>((*calls)[0].action).content, "hello");
    EXPECT_EQ(std::get<SendAction>((*calls)[0].action).reply_to, "m0");
}

TEST(RelayPieces, OnlyTheFirstPieceReplies) {
    const auto calls = make_calls(send(std::string(100, 'x')), "c1", kRule);
    ASSERT_EQ(calls.value().size(), 3u);
    EXPECT_EQ(std::get<SendAction>((*calls)[0].action).reply_to, "m0");
    EXPECT_EQ(std::get<SendAction>((*calls)[1].action).reply_to, "");
}

TEST(RelayPieces, RefusesMorePiecesThanCanGoOut) {
    EXPECT_TRUE(make_calls(send(std::string(40 * kOutboundPiecesMax, 'x')), "c1", kRule));
    const auto calls = make_calls(send(std::string(40 * kOutboundPiecesMax + 1, 'x')), "c1", kRule);
    ASSERT_FALSE(calls);
    EXPECT_EQ(calls.error().code, "too_long");
}

TEST(RelayPieces, RefusesAnEmptyText) {
    EXPECT_EQ(make_calls(send(""), "c1", kRule).error().code, "invalid_request");
    EXPECT_EQ(
        make_calls(EditAction{"c1", "m1", "", {}}, "c1", kRule).error().code, "invalid_request");
}

TEST(RelayPieces, RefusesAnEditThatDoesNotFit) {
    EXPECT_TRUE(make_calls(EditAction{"c1", "m1", std::string(40, 'x'), {}}, "c1", kRule));
    EXPECT_EQ(
        make_calls(EditAction{"c1", "m1", std::string(41, 'x'), {}}, "c1", kRule).error().code,
        "too_long");
}

TEST(RelayPieces, CountsInThePlatformsUnit) {
    const SplitRule utf16{.limit = 40, .unit = LengthUnit::utf16, .keeps_fences = true};
    std::string faces;
    for (int i = 0; i < 21; ++i) {
        faces += "\U0001F600";
    }
    EXPECT_EQ(make_calls(send(faces), "c1", kRule).value().size(), 1u);
    EXPECT_EQ(make_calls(send(faces), "c1", utf16).value().size(), 2u);
}

TEST(RelayPieces, ALongPromptHasItsButtonsUnderTheLastPiece) {
    PromptAction prompt;
    prompt.chat_id = "c1";
    prompt.content = std::string(50, 'x');
    prompt.reply_to = "m0";
    prompt.options = {{"y", "Yes", ""}};
    const auto calls = make_calls(prompt, "c1", kRule);
    ASSERT_EQ(calls.value().size(), 2u);
    EXPECT_EQ(std::get<SendAction>((*calls)[0].action).reply_to, "m0");
    EXPECT_EQ(std::get<PromptAction>((*calls)[1].action).content, std::string(10, 'x'));
    EXPECT_EQ(std::get<PromptAction>((*calls)[1].action).options.size(), 1u);
}

TEST(RelayPieces, ALongCaptionFollowsItsMedia) {
    SendMediaAction media;
    media.chat_id = "c1";
    media.content = std::string(50, 'x');
    const auto calls = make_calls(media, "c1", kRule);
    ASSERT_EQ(calls.value().size(), 3u);
    EXPECT_EQ(std::get<SendMediaAction>((*calls)[0].action).content, "");
    EXPECT_EQ(std::get<SendAction>((*calls)[2].action).content, std::string(10, 'x'));
}

TEST(RelayPieces, AFollowUpBecomesSendsToItsChat) {
    const auto calls = make_calls(FollowUpAction{"k", "kind", "hi", {}}, "c7", kRule);
    EXPECT_EQ(std::get<SendAction>(calls.value()[0].action).chat_id, "c7");
}

TEST(RelayPieces, EveryPieceFitsAndNoWordIsLost) {
    EXPECT_TRUE(rc::check([] {
        // Two neighbouring pieces never fit into one, so that these stay below the bound.
        const auto lengths =
            *rc::gen::container<std::vector<std::size_t>>(40, rc::gen::inRange<std::size_t>(1, 14));
        std::string text;
        std::string letters;
        for (const std::size_t length : lengths) {
            const std::string word(length, static_cast<char>('a' + letters.size() % 26));
            text += word + " ";
            letters += word;
        }
        const auto calls = make_calls(send(text), "c1", kRule);
        std::string together;
        for (const PlatformCall& call : calls.value()) {
            const std::string& content = std::get<SendAction>(call.action).content;
            RC_ASSERT(length_in(content, kRule.unit) <= kRule.limit);
            std::ranges::copy_if(
                content, std::back_inserter(together), [](char c) { return c != ' '; });
        }
        RC_ASSERT(together == letters);
    }));
}

}  // namespace
}  // namespace interlock
