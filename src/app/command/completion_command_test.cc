// Completions and the man page are made from the parser's tree: whatever is added is in them.
#include "app/command/completion_command.h"

#include <gtest/gtest.h>

#include "app/command/admin_commands.h"
#include "app/command/approvals_command.h"
#include "app/command/audit_command.h"
#include "app/command/command_tree.h"
#include "app/command/completion_script.h"
#include "app/command/doctor_command.h"
#include "app/command/kill_command.h"
#include "app/command/man_page.h"
#include "app/command/version_command.h"

namespace interlock {
namespace {

void describe_all(CommandLine& line) {
    line.app.require_subcommand(1);
    line.app.fallthrough();
    line.app.add_option("--data", line.global.data, "Data folder.");
    line.app.add_flag("--json", line.global.json, "Print JSON.");
    add_kill_command(line);
    add_approvals_command(line);
    add_audit_command(line);
    add_admin_commands(line);
    add_doctor_command(line);
    add_completion_command(line);
    add_version_command(line);
}

class Completion : public ::testing::Test {
protected:
    Completion() {
        describe_all(line);
        tree = command_tree(line.app);
    }
    int parse(std::vector<std::string> words) {
        std::reverse(words.begin(), words.end());
        try {
            line.app.parse(words);
        } catch (const CLI::ParseError& error) {
            return error.get_exit_code() == 0 ? 0 : 1;
        }
        return 0;
    }

    CommandLine line;
    std::vector<CommandEntry> tree;
};

const OptionEntry* find_option(
    const std::vector<CommandEntry>& tree, const std::string& path, const std::string& name) {
    for (const CommandEntry& entry : tree) {
        for (const OptionEntry& option : entry.options) {
            const bool named =
                std::find(option.names.begin(), option.names.end(), name) != option.names.end();
            if (entry.path_text() == path && named) {
                return &option;
            }
        }
    }
    return nullptr;
}

TEST_F(Completion, TheTreeHoldsEveryCommandOnce) {
    std::vector<std::string> paths;
    for (const CommandEntry& entry : tree) {
        paths.push_back(entry.path_text());
    }
    const std::vector<std::string> expected{
        "",
        "kill",
        "kill on",
        "kill off",
        "kill status",
        "approvals",
        "approvals list",
        "approvals show",
        "approvals approve",
        "approvals reject",
        "audit",
        "audit tail",
        "audit show",
        "audit export",
        "audit archive",
        "audit verify",
        "audit accept-break",
        "tenant",
        "tenant create",
        "tenant list",
        "key",
        "key create",
        "key confirm",
        "key list",
        "key revoke",
        "human",
        "human invite",
        "human activate",
        "human recover",
        "human assist",
        "human object",
        "human codes",
        "human reset-password",
        "human list",
        "doctor",
        "completion",
        "man",
        "version"};
    EXPECT_EQ(paths, expected);
}

TEST_F(Completion, TheTreeKnowsValuesAndFlags) {
    const OptionEntry* tenant = find_option(tree, "kill on", "--tenant");
    ASSERT_NE(tenant, nullptr);
    EXPECT_EQ(tenant->value, "TENANT");
    const OptionEntry* global = find_option(tree, "kill on", "--global");
    ASSERT_NE(global, nullptr);
    EXPECT_EQ(global->value, "");
    const OptionEntry* state = find_option(tree, "approvals list", "--state");
    ASSERT_NE(state, nullptr);
    EXPECT_EQ(
        state->words,
        (std::vector<std::string>{"pending", "approved", "rejected", "expired", "consumed"}));
}

TEST_F(Completion, EveryCommandAndOptionSaysWhatItIsFor) {
    for (const CommandEntry& entry : tree) {
        EXPECT_NE(entry.description, "") << entry.path_text();
        for (const OptionEntry& option : entry.options) {
            EXPECT_NE(option.description, "") << entry.path_text() << " " << option.positional;
        }
    }
}

TEST_F(Completion, TheManPageHoldsEveryCommandAndOption) {
    const std::string page = man_page(tree, "1.2.3");
    for (const CommandEntry& entry : tree) {
        if (!entry.path.empty()) {
            std::string name = entry.path_text();
            for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) {
                name.insert(at, "\\");  // A bare one may become a dash.
            }
            EXPECT_TRUE(page.contains(".SS \"" + name + "\"\n")) << name;
        }
        for (const OptionEntry& option : entry.options) {
            for (const std::string& name : option.names) {
                std::string escaped;
                for (const char c : name) {
                    escaped += c == '-' ? "\\-" : std::string(1, c);
                }
                EXPECT_TRUE(page.contains("\\fB" + escaped + "\\fR")) << name;
            }
        }
    }
    for (const char* section : {"EXIT STATUS", "FILES", "ENVIRONMENT"}) {
        EXPECT_TRUE(page.contains(".SH " + std::string(section) + "\n")) << section;
    }
    EXPECT_TRUE(page.contains("interlock 1.2.3"));
}

TEST_F(Completion, EveryScriptLeadsToEveryCommand) {
    for (const std::string& script :
         {bash_completion(tree), zsh_completion(tree), fish_completion(tree)}) {
        for (const CommandEntry& entry : tree) {
            std::string key;
            for (const std::string& name : entry.path) {
                key += "/" + name;
            }
            EXPECT_TRUE(script.contains(key)) << key;
        }
        EXPECT_TRUE(script.contains("pending")) << script;
    }
}

TEST_F(Completion, ADescriptionCannotEndItsQuotes) {
    std::vector<CommandEntry> odd{
        {.path = {}, .description = "", .options = {}, .children = {"a"}},
        {.path = {"a"}, .description = "the human's: word", .options = {}, .children = {}}};
    EXPECT_TRUE(fish_completion(odd).contains("'the human\\'s: word'"));
    EXPECT_TRUE(zsh_completion(odd).contains("'the human'\\''s: word'"));
}

TEST_F(Completion, GlobalOptionsMayStandAfterTheCommand) {
    EXPECT_EQ(parse({"kill", "status", "--json", "--data", "/x"}), 0);
    EXPECT_TRUE(line.global.json);
    EXPECT_EQ(line.global.data, "/x");
    EXPECT_TRUE(static_cast<bool>(line.run));
}

TEST_F(Completion, OneTenantAndEverythingExcludeEachOther) {
    EXPECT_NE(parse({"kill", "on", "--tenant", "a", "--global"}), 0);
}

TEST_F(Completion, AnUnknownStateIsAUsageError) {
    EXPECT_NE(parse({"approvals", "list", "--state", "open"}), 0);
}

TEST_F(Completion, ADecisionNeedsAnId) {
    EXPECT_NE(parse({"approvals", "approve"}), 0);
    EXPECT_EQ(parse({"approvals", "approve", "apr_1", "--email", "a@b.c", "--yes"}), 0);
}

TEST_F(Completion, AFileAndATenantAreNotVerifiedAtOnce) {
    EXPECT_NE(parse({"audit", "verify", "file.ndjson", "--tenant", "demo"}), 0);
}

TEST_F(Completion, TheTailIsBounded) {
    EXPECT_NE(parse({"audit", "tail", "-n", "100001"}), 0);
}

TEST_F(Completion, AKeyTakesSeveralScopes) {
    EXPECT_EQ(
        parse({"key", "create", "--tenant", "t", "--label", "l", "--scope", "read,probe"}), 0);
}

TEST_F(Completion, AKeyTakesNoUnknownScope) {
    EXPECT_NE(parse({"key", "create", "--tenant", "t", "--label", "l", "--scope", "root"}), 0);
}

}  // namespace
}  // namespace interlock
