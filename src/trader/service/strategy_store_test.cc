#include "trader/service/strategy_store.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

// What row_text() writes by hand, as trees.
Json encode(const InstanceStanding& standing) {
    return Json::object({
        {"mode", to_word(standing.mode)},
        {"paused", standing.paused},
        {"last_transition", standing.last_transition},
        {"version", standing.version},
        {"updated_at", standing.updated_at.microseconds},
    });
}

Json encode(const ControlRow& row) {
    Json json = Json::object({
        {"fingerprint", row.history.fingerprint},
        {"status", to_word(row.history.status)},
        {"attempts", row.history.attempts},
    });
    if (row.seq > 0) {
        json.set("seq", row.seq);
    } else {
        json.set("answer", parse_json(row.answer_text).value());
    }
    return json;
}

ControlRow a_row() {
    return {
        .history =
            {.fingerprint = std::string(64, 'f'), .status = ControlStatus::noop, .attempts = 3},
        .answer_text = R"({"ok":true,"status":"noop","warnings":["a \"quoted\" one"],"n":0.10})"};
}

InstanceStanding a_standing() {
    return {
        .mode = InstanceMode::active,
        .paused = true,
        .last_transition = "off -> active by \"d1\"",
        .version = 7,
        .updated_at = Timestamp{1'776'370'500'123'456}};
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

TEST(ControlRow, SaysWhereItsAnswerLiesInsteadOfRepeatingIt) {
    ControlRow row = a_row();
    row.seq = 41;
    EXPECT_EQ(row_text(row), to_text(encode(row)));
    EXPECT_EQ(row_text(row).find("quoted"), std::string::npos);
    const auto back = decode_control_row(parse_json(row_text(row)).value());
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->seq, 41);
    EXPECT_EQ(back->history.attempts, 3);
    EXPECT_TRUE(back->answer_text.empty());
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

TEST(InstanceStanding, IsTheTextOfItsJsonAndComesBack) {
    EXPECT_EQ(row_text(a_standing()), to_text(encode(a_standing())));
    const auto back = decode_instance_standing(parse_json(row_text(a_standing())).value());
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, a_standing());
}

TEST(InstanceStanding, HasTheLastWordButNeverLowersAVersion) {
    StrategyInstance instance;
    instance.version = 9;
    instance.ticks = 5;
    const StrategyInstance whole = with_standing(instance, a_standing());
    EXPECT_EQ(whole.mode, InstanceMode::active);
    EXPECT_TRUE(whole.paused);
    EXPECT_EQ(whole.last_transition, a_standing().last_transition);
    EXPECT_EQ(whole.version, 9);
    EXPECT_EQ(whole.ticks, 5);
    EXPECT_EQ(whole.updated_at, a_standing().updated_at);
    EXPECT_EQ(standing_of(with_standing(StrategyInstance{}, a_standing())), a_standing());
}

TEST(InstanceStanding, ItsKeyLiesBesideItsConcernsAndIsToldFromIt) {
    StrategyInstance instance;
    instance.strategy_id = StrategyId::trusted("str_1");
    instance.account = {TenantId::trusted("demo"), AccountId::trusted("main"), TradeMode::paper};
    instance.symbol = Symbol::parse("BTCUSDT").value();
    EXPECT_EQ(standing_key(instance), "concern/demo/paper/main:btcusdt/str_1");
    EXPECT_TRUE(is_standing_key(standing_key(instance)));
    EXPECT_FALSE(is_standing_key("concern/demo/paper/main:btcusdt"));
    EXPECT_FALSE(is_standing_key("a/b/c/d/e"));
}

}  // namespace
}  // namespace interlock
