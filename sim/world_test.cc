// The models around the server keep the promises of the ports they play.
#include "sim/world.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace interlock::sim {
namespace {

OutboxItem effect(const std::string& id) {
    OutboxItem item;
    item.effect_id = EffectId::trusted(id);
    item.kind = "probe";
    return item;
}

TEST(SinkModel, PerformsAnEffectOnceAndFindsItAfterwards) {
    Power power;
    SinkModel sink(power);
    EXPECT_TRUE(sink.perform(effect("e1")));
    EXPECT_EQ(sink.perform(effect("e1")).error(), errors::effect_refused);
    EXPECT_TRUE(sink.find(EffectId::trusted("e1"))->has_value());
}

// engine/ports/effect_sink.h: an id it was asked about before it saw it is refused for ever.
TEST(SinkModel, RefusesAnEffectItWasAskedAboutBefore) {
    Power power;
    SinkModel sink(power);
    EXPECT_FALSE(sink.find(EffectId::trusted("e1"))->has_value());
    EXPECT_EQ(sink.perform(effect("e1")).error(), errors::effect_refused);
    EXPECT_FALSE(sink.has_performed(EffectId::trusted("e1")));
}

TEST(SinkModel, MayPerformAndLoseTheAnswer) {
    Power power;
    SinkModel sink(power);
    sink.set_mood(SinkMood::loses_answer, 1);
    EXPECT_EQ(sink.perform(effect("e1")).error(), errors::timed_out);
    EXPECT_TRUE(sink.has_performed(EffectId::trusted("e1")));
    EXPECT_TRUE(sink.perform(effect("e2")));
}

TEST(SinkModel, HearsNothingFromAServerWithoutPower) {
    Power power;
    SinkModel sink(power);
    int arrivals = 0;
    sink.on_arrival = [&arrivals](const OutboxItem&) { ++arrivals; };
    power.on = false;
    EXPECT_FALSE(sink.perform(effect("e1")));
    EXPECT_EQ(arrivals, 0);
}

TEST(FlagModel, CountsAsRaisedWhenItCannotBeRead) {
    Power power;
    FlagModel flag(power);
    EXPECT_FALSE(flag.is_raised());
    flag.set_unreadable(true);
    EXPECT_TRUE(flag.is_raised());
    EXPECT_FALSE(flag.file_is_there());
}

TEST(MirrorModel, MayLagAfterACrashButNeverLeads) {
    const TenantId tenant = TenantId::trusted("t-ash");
    bool lagged = false;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Power power;
        MirrorModel mirror(power);
        mirror.publish({{tenant, {1, "one"}}});
        mirror.publish({{tenant, {2, "two"}}});
        SeededRandom random(seed);
        mirror.settle_after_crash(random);
        const std::int64_t seq = mirror.load()->at(tenant).seq;
        EXPECT_TRUE(seq == 1 || seq == 2);
        lagged = lagged || seq == 1;
    }
    EXPECT_TRUE(lagged);
}

}  // namespace
}  // namespace interlock::sim
