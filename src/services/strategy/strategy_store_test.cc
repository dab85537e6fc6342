#include "services/strategy/strategy_store.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

ControlRow a_row() {
    return {
        .history =
            {.fingerprint = std::string(64, 'f'), .status = ControlStatus::noop, .attempts = 3},
        .answer_text = R"({"ok":true,"status":"noop","warnings":["a \"quoted\" one"],"n":0.10})",
        .first_at = Timestamp{1'776'370'500'000'000},
        .last_at = Timestamp{1'776'370'500'123'456}};
}

TEST(ControlRow, IsTheTextOfItsJson) {
    EXPECT_EQ(row_text(a_row()), to_text(encode(a_row())));
}

TEST(ControlRow, ComesBackWithItsAnswerByteForByte) {
    const auto back = decode_control_row(parse_json(row_text(a_row())).value());
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->answer_text, a_row().answer_text);
    EXPECT_EQ(row_text(*back), row_text(a_row()));
}

// Rows were written with the answer as a string once, and are kept for ever.
TEST(ControlRow, AnAnswerKeptAsAStringIsRead) {
    Json old = encode(a_row());
    old.set("answer", a_row().answer_text);
    const auto back = decode_control_row(old);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->answer_text, a_row().answer_text);
}

TEST(ControlRow, AnAnswerThatIsNoObjectIsRefused) {
    for (const Json& answer : {Json(), Json(7), Json("no document"), Json("[1]")}) {
        Json row = encode(a_row());
        row.set("answer", answer);
        EXPECT_FALSE(decode_control_row(row)) << to_text(answer);
    }
}

}  // namespace
}  // namespace interlock
