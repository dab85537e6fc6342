// Tests of the lines between plane and sink: what is written is read back, what is not ours is not.
#include "engine/sink/sink_wire.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Result<SinkRequest> read_back(const SinkRequest& request) {
    return decode_sink_request(*parse_json(to_text(encode(request))));
}

TEST(SinkWire, ReadsAPerformBackWhole) {
    const auto request = read_back(SinkPerform{
        EffectId::trusted("eff_1"),
        TenantId::trusted("demo"),
        "cancel_all",
        "{\"a\":\"\\n\"}",
        Delivery::repeatable});
    ASSERT_TRUE(request.has_value());
    const auto& perform = std::get<SinkPerform>(*request);
    EXPECT_EQ(perform.effect_id.text(), "eff_1");
    EXPECT_EQ(perform.tenant_id.text(), "demo");
    EXPECT_EQ(perform.kind, "cancel_all");
    EXPECT_EQ(perform.json, "{\"a\":\"\\n\"}");
    EXPECT_EQ(perform.delivery, Delivery::repeatable);
}

TEST(SinkWire, ReadsAFindAndACountBack) {
    const auto find = read_back(SinkFind{EffectId::trusted("eff_1")});
    ASSERT_TRUE(find.has_value());
    EXPECT_EQ(std::get<SinkFind>(*find).effect_id.text(), "eff_1");
    const auto count = read_back(SinkCount{});
    ASSERT_TRUE(count.has_value());
    EXPECT_TRUE(std::holds_alternative<SinkCount>(*count));
}

TEST(SinkWire, ReadsAnswersAndCountsBack) {
    const SinkAnswer answer{SinkStatus::never_arrived, "r", "m"};
    const auto read = decode_sink_answer(encode(answer));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->status, answer.status);
    EXPECT_EQ(read->receipt, answer.receipt);
    EXPECT_EQ(read->message, answer.message);
    const SinkCounts counts{1, 2, 3, 4, 5};
    EXPECT_EQ(decode_sink_counts(encode(counts)).value_or(SinkCounts{}), counts);
}

TEST(SinkWire, RefusesAnUnknownFieldAndAnUnknownWord) {
    EXPECT_FALSE(decode_sink_request(*parse_json(R"({"op":"count","more":1})")));
    EXPECT_FALSE(decode_sink_request(*parse_json(R"({"op":"forget"})")));
}

}  // namespace
}  // namespace interlock
