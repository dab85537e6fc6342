#include "app/command/usage_hint.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

// interlock [--data DIR] kill {on [--reason TEXT], off} | show ID
class UsageHints : public ::testing::Test {
protected:
    UsageHints() {
        app_.add_option("--data", data_);
        CLI::App* kill = app_.add_subcommand("kill");
        kill->add_subcommand("on")->add_option("--reason", reason_);
        kill->add_subcommand("off");
        app_.add_subcommand("show")->add_option("id", id_);
    }

    std::string problem(const std::vector<std::string>& words) {
        const auto found = usage_hint(app_, words);
        return found ? found->problem : "";
    }

    std::string data_;
    std::string reason_;
    std::string id_;
    CLI::App app_;
};

TEST_F(UsageHints, RepeatAMistypedCommandAndNameTheOneThatWasMeant) {
    EXPECT_EQ(
        problem({"kil", "on"}),
        "`interlock` has no command \"kil\"; did you mean `interlock kill`?");
    EXPECT_EQ(
        problem({"--data", "x", "kill", "no"}),
        "`interlock kill` has no command \"no\"; did you mean `interlock kill on`?");
}

TEST_F(UsageHints, NameNothingThatLooksLikeAnotherWord) {
    EXPECT_EQ(problem({"dashboard"}), "`interlock` has no command \"dashboard\".");
}

TEST_F(UsageHints, RepeatAMistypedOption) {
    EXPECT_EQ(
        problem({"kill", "on", "--raeson", "x"}),
        "`interlock kill on` has no option --raeson; did you mean --reason?");
    EXPECT_EQ(
        problem({"kill", "off", "--dta=x"}),
        "`interlock kill off` has no option --dta; did you mean --data?");
}

TEST_F(UsageHints, LeaveWordsAloneThatACommandTakes) {
    EXPECT_EQ(problem({"show", "kil"}), "");
    EXPECT_EQ(problem({"--data", "kil", "kill"}), "");
    EXPECT_EQ(problem({"kill", "on", "--reason", "--data"}), "");
}

TEST_F(UsageHints, SayWhereToLook) {
    const auto found = usage_hint(app_, {"kill", "onn"});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->next_step, "Run `interlock kill --help` to see what there is.");
}

}  // namespace
}  // namespace interlock
