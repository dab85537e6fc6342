#include "app/command/console.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <algorithm>

namespace interlock {
namespace {

TEST(Console, LeavesVisibleTextAsItIs) {
    EXPECT_EQ(print_safe("Grüße, 世界 🙂 \"quoted\""), "Grüße, 世界 🙂 \"quoted\"");
}

TEST(Console, SpellsOutTerminalSequences) {
    EXPECT_EQ(print_safe("safe\x1b[2Jgone"), "safe\\u{1b}[2Jgone");
}

TEST(Console, SpellsOutTheEightBitControls) {
    EXPECT_EQ(
        print_safe("a\xc2\x9b"
                   "31mb"),
        "a\\u{9b}31mb");
}

TEST(Console, SpellsOutWhatTurnsTheReadingDirection) {
    EXPECT_EQ(
        print_safe("pay \xe2\x80\xae"
                   "001"),
        "pay \\u{202e}001");
}

TEST(Console, SpellsOutInvisibleCharacters) {
    EXPECT_EQ(
        print_safe("a\xe2\x80\x8b"
                   "b\xef\xbb\xbf"
                   "c"),
        "a\\u{200b}b\\u{feff}c");
}

TEST(Console, LeavesPicturesOfSeveralCharactersAsTheyAre) {
    const std::string warning = "\xe2\x9a\xa0\xef\xb8\x8f";  // ⚠ and its selector.
    const std::string coder = "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb";  // Joined.
    EXPECT_EQ(print_safe(warning + " careful, " + coder), warning + " careful, " + coder);
}

TEST(Console, SpellsOutWhatJoinsNoPictures) {
    EXPECT_EQ(print_safe("a\xef\xb8\x8f"), "a\\u{fe0f}");
    EXPECT_EQ(
        print_safe("a\xe2\x80\x8d"
                   "b"),
        "a\\u{200d}b");
    const std::string warning = "\xe2\x9a\xa0\xef\xb8\x8f";
    EXPECT_EQ(print_safe(warning + "\xef\xb8\x8f"), warning + "\\u{fe0f}");
    EXPECT_EQ(print_safe("\xe2\x9a\xa0\xef\xb8\x8e"), "\xe2\x9a\xa0\\u{fe0e}");
}

TEST(Console, SpellsOutBytesThatAreNoText) {
    EXPECT_EQ(
        print_safe("a\xff"
                   "b"),
        "a\\u{ff}b");
}

TEST(Console, KeepsNewlinesOnlyWhenAsked) {
    EXPECT_EQ(print_safe("a\nb"), "a\\u{a}b");
    EXPECT_EQ(print_safe("a\nb\r", true), "a\nb\\u{d}");
}

TEST(Console, NeverPrintsAControlCharacter) {
    const bool held = rc::check([](const std::string& text) {
        const std::string safe = print_safe(text);
        RC_ASSERT(is_valid_utf8(safe));
        RC_ASSERT(std::none_of(safe.begin(), safe.end(), [](char c) {
            return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        }));
    });
    EXPECT_TRUE(held);
}

TEST(Console, GoesOnBelowInTheLastColumnWhereATableIsTooWide) {
    const std::vector<std::vector<std::string>> rows{{"demo", "one two three four five six seven"}};
    EXPECT_EQ(
        render_table({"TENANT", "REASON"}, rows, 34),
        "TENANT  REASON\n"
        "demo    one two three four five\n"
        "        six seven\n");
    EXPECT_EQ(
        render_table({"TENANT", "REASON"}, rows, 0),
        "TENANT  REASON\ndemo    one two three four five six seven\n");
}

TEST(Console, MakesLinesOfRowsWhereColumnsDoNotFit) {
    EXPECT_EQ(
        render_table(
            {"APPROVAL", "KIND"},
            {{"apr_0123456789012345", "kill_release"},
             {"apr_1", "a rather long sentence of words"}},
            30),
        "APPROVAL  apr_0123456789012345\n"
        "KIND      kill_release\n"
        "\n"
        "APPROVAL  apr_1\n"
        "KIND      a rather long\n"
        "          sentence of words\n");
}

TEST(Console, NeverCutsAWordOff) {
    const std::string word(50, 'x');
    EXPECT_TRUE(render_table({"A", "B"}, {{"1", word}}, 30).contains(word));
}

TEST(Console, NamesCommandsWhereAnAnswerNamesCalls) {
    EXPECT_EQ(
        in_command_words("Name an instance that GET /instances shows."),
        "Name an instance that `interlock strategy list` shows.");
    EXPECT_EQ(
        in_command_words("Correct the fields; see list_strategy_types."),
        "Correct the fields; see `interlock strategy types`.");
    EXPECT_EQ(in_command_words("Read GET /markets."), "Read GET /markets.");
    EXPECT_EQ(
        in_command_words("POST /connect-exchange opens it again."),
        "`interlock bot connect-exchange` opens it again.");
    EXPECT_EQ(
        in_command_words("It is asked again; look at /exchange_status."),
        "It is asked again; look at `interlock bot exchange-status`.");
    for (const char* other : {"See /api/t/status.", "See https://h/status.", "See /statuses."}) {
        EXPECT_EQ(in_command_words(other), other);
    }
}

TEST(Console, ColoursNothingThatIsNoTerminal) {
    int pipe_ends[2] = {-1, -1};
    ASSERT_EQ(pipe(pipe_ends), 0);
    EXPECT_FALSE(wants_colour(pipe_ends[1]));
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST(Console, AlignsColumnsByCharacters) {
    EXPECT_EQ(
        render_table({"NAME", "N"}, {{"ü", "1"}, {"long", "22"}}),
        "NAME  N\n"
        "ü     1\n"
        "long  22\n");
}

TEST(Console, KeepsATableRowOnOneLine) {
    const std::string table = render_table({"A", "B"}, {{"x\ny", "z"}});
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
}

TEST(Console, JoinsListsWithCommas) {
    const Json json = Json::object({{"a", Json::array({"x", "y"})}, {"b", Json::array()}});
    EXPECT_EQ(text_at(json, "a"), "x,y");
    EXPECT_EQ(text_at(json, "b"), "-");
}

TEST(Console, CountsInTheRightNumber) {
    EXPECT_EQ(count_text(0, "record"), "0 records");
    EXPECT_EQ(count_text(1, "record"), "1 record");
}

TEST(Console, ShowsAbsentAndEmptyValuesAsADash) {
    const Json json = Json::object({{"a", ""}, {"b", Json()}, {"c", 3}, {"d", true}});
    EXPECT_EQ(text_at(json, "a"), "-");
    EXPECT_EQ(text_at(json, "b"), "-");
    EXPECT_EQ(text_at(json, "none"), "-");
    EXPECT_EQ(text_at(json, "c"), "3");
    EXPECT_EQ(text_at(json, "d"), "true");
}

}  // namespace
}  // namespace interlock
