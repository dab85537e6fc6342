#include "app/command/man_page.h"

#include <array>
#include <utility>

namespace interlock {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<Pair, 5> kExitStatus{{
    {"0", "It was done."},
    {"1", "The server or a check said no: a refusal, a broken chain, a red line of doctor."},
    {"2", "The command line itself is wrong."},
    {"3", "No server answers on the operator socket."},
    {"4", "Configuration, data folder or machine do not allow it."},
}};

constexpr std::array<Pair, 9> kFiles{{
    {"interlock.db", "The database (SQLite, with its -wal and -shm): states and ledger."},
    {"heads/", "The last record of each chain, kept apart so that a cut-off end shows."},
    {"relay_heads/", "The same of the relay's chains."},
    {"ledger.key, ledger.pub",
     "The key that signs checkpoints and exports, and its public half, which is all that "
     "verifying an export needs."},
    {"operator.sock", "Where commands reach the running server; open to its user only."},
    {"operator.token", "What stands for the socket where there is none."},
    {"KILL", "While a file of this name is there, nothing trades, whoever put it there."},
    {"LOCK", "Held by the running server: one process owns a data folder."},
    {"~/.local/share/interlock",
     "The data folder when neither --data nor a variable names another."},
}};

constexpr std::array<Pair, 8> kEnvironment{{
    {"INTERLOCK_DATA", "The data folder; --data goes before it."},
    {"INTERLOCK_CONFIG", "The configuration file; --config goes before it."},
    {"INTERLOCK_PORT", "The port to serve on; --port goes before it."},
    {"INTERLOCK_ACCESS_KEY", "The access key that commands act with where an agent may call."},
    {"INTERLOCK_...",
     "Every key of the configuration in capitals with '_' for '.', such as INTERLOCK_LOG_LEVEL for "
     "log.level. Variables go before the file, flags before variables."},
    {"XDG_DATA_HOME", "Where data folders are by default, as interlock inside it."},
    {"NO_COLOR", "When it is not empty, nothing is coloured."},
    {"TERM", "When it is dumb, nothing is coloured and no line is written over."},
}};

constexpr std::array<Pair, 7> kExamples{{
    {"interlock demo", "Serve a demo tenant and print how to reach it."},
    {"interlock kill on --reason \"strange fills\"", "Stop everything on this host now."},
    {"interlock approvals approve apr_...", "See a request, log in as a human, approve it."},
    {"interlock strategy list", "See which strategies there are and which of them trade."},
    {"interlock decide --concern main:btcusdt --action pause --reason \"odd fills\"",
     "Pause the strategy that is active on a market, once and on the record."},
    {"interlock audit export --tenant demo -o demo.ndjson", "Keep a signed copy of a chain."},
    {"interlock audit verify demo.ndjson --public-key ledger.pub",
     "Check that copy on another machine."},
}};

std::string roff(std::string_view text) {
    // The one sign of the API's texts that a plain terminal has not.
    constexpr std::string_view kDots = "\u2026";
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (text.substr(at).starts_with(kDots)) {
            out += "...";
            at += kDots.size() - 1;
        } else if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    // A line that starts with a dot or a quote would be a request.
    return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string heading_of(const OptionEntry& option) {
    std::string text;
    for (const std::string& name : option.names) {
        text += (text.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
    }
    const std::string value = option.positional.empty() ? option.value : option.positional;
    if (option.names.empty()) {
        return "\\fI" + roff(value) + "\\fR";
    }
    return value.empty() ? text : text + " \\fI" + roff(value) + "\\fR";
}

std::string options_text(const CommandEntry& entry) {
    std::string text;
    for (const OptionEntry& option : entry.options) {
        // Every command has it; saying so once is enough.
        if (!entry.path.empty() && !option.names.empty() && option.names.back() == "--help") {
            continue;
        }
        std::string description = option.description;
        if (!option.words.empty()) {
            description += " One of:";
            for (const std::string& word : option.words) {
                description += " " + word;
            }
            description += ".";
        }
        text += ".TP\n" + heading_of(option) + "\n" +
                roff(description.empty() ? "No description." : description) + "\n";
    }
    return text;
}

std::string synopsis_of(const CommandEntry& entry) {
    std::string text = "\\fBinterlock " + roff(entry.path_text()) + "\\fR";
    for (const OptionEntry& option : entry.options) {
        if (option.names.empty()) {
            const std::string name = "\\fI" + roff(option.positional) + "\\fR";
            text += option.required ? " " + name : " [" + name + "]";
        }
    }
    return entry.children.empty() ? text : text + " \\fIcommand\\fR";
}

template <std::size_t size>
std::string section(std::string_view title, const std::array<Pair, size>& pairs) {
    std::string text = ".SH " + std::string(title) + "\n";
    for (const auto& [name, meaning] : pairs) {
        text += ".TP\n\\fB" + roff(name) + "\\fR\n" + roff(meaning) + "\n";
    }
    return text;
}

}  // namespace

std::string man_page(const std::vector<CommandEntry>& tree, std::string_view version) {
    const CommandEntry& program = tree.front();
    std::string text = ".TH INTERLOCK 1 \"\" \"interlock " + std::string(version) +
                       "\" \"User Commands\"\n"
                       ".SH NAME\n"
                       "interlock \\- what autonomous agents may do, once, on the record, until "
                       "stopped\n"
                       ".SH SYNOPSIS\n"
                       ".B interlock\n[\\fIoption\\fR...] \\fIcommand\\fR [\\fIargument\\fR...]\n"
                       ".SH DESCRIPTION\n" +
                       roff(program.description) +
                       "\n.PP\n"
                       "Commands print text for people, or JSON with \\fB\\-\\-json\\fR. They talk "
                       "to a running server through a socket in its data folder; the audit "
                       "commands read the folder itself and need no server.\n"
                       ".SH OPTIONS\nThese may stand before or after any command.\n" +
                       options_text(program) + ".SH COMMANDS\n";
    for (const CommandEntry& entry : tree) {
        if (!entry.path.empty()) {
            text += ".SS \"" + roff(entry.path_text()) + "\"\n" + synopsis_of(entry) + "\n.PP\n" +
                    roff(entry.description) + "\n" + options_text(entry);
        }
    }
    return text + section("EXIT STATUS", kExitStatus) + section("ENVIRONMENT", kEnvironment) +
           section("FILES", kFiles) + section("EXAMPLES", kExamples);
}

}  // namespace interlock
