#include "app/command/completion_script.h"

#include <set>

namespace interlock {
namespace {

// "/kill/on": how the scripts name a command; "" is the program itself.
std::string path_key(const CommandEntry& entry) {
    std::string key;
    for (const std::string& name : entry.path) {
        key += "/" + name;
    }
    return key;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) {
        text += (text.empty() ? "" : std::string(between)) + part;
    }
    return text;
}

// All paths but the program's own: the words that lead deeper.
std::vector<std::string> path_keys(const std::vector<CommandEntry>& tree) {
    std::vector<std::string> keys;
    for (const CommandEntry& entry : tree) {
        if (!entry.path.empty()) {
            keys.push_back(path_key(entry));
        }
    }
    return keys;
}

// Names of options that take a value, wherever they stand.
std::vector<std::string> value_options(const std::vector<CommandEntry>& tree) {
    std::set<std::string> names;
    for (const CommandEntry& entry : tree) {
        for (const OptionEntry& option : entry.options) {
            if (!option.value.empty()) {
                names.insert(option.names.begin(), option.names.end());
            }
        }
    }
    return {names.begin(), names.end()};
}

const CommandEntry* find_child(
    const std::vector<CommandEntry>& tree, const CommandEntry& parent, const std::string& name) {
    std::vector<std::string> path = parent.path;
    path.push_back(name);
    for (const CommandEntry& entry : tree) {
        if (entry.path == path) {
            return &entry;
        }
    }
    return nullptr;
}

struct Suggestion {
    std::string word;
    std::string description;
};

// What may stand next inside a command: subcommands, a positional's fixed words, its own options
// and those of the program, which every command takes.
std::vector<Suggestion> suggestions(
    const std::vector<CommandEntry>& tree, const CommandEntry& entry) {
    std::vector<Suggestion> found;
    for (const std::string& name : entry.children) {
        const CommandEntry* child = find_child(tree, entry, name);
        found.push_back({name, child == nullptr ? "" : child->description});
    }
    std::set<std::string> seen;
    const auto add_options = [&](const CommandEntry& from) {
        for (const OptionEntry& option : from.options) {
            for (const std::string& word :
                 option.positional.empty() ? std::vector<std::string>() : option.words) {
                found.push_back({word, option.description});
            }
            for (const std::string& name : option.names) {
                if (seen.insert(name).second) {
                    found.push_back({name, option.description});
                }
            }
        }
    };
    add_options(entry);
    add_options(tree.front());
    return found;
}

// Descriptions stand between single quotes in zsh and fish, and a colon ends a word in zsh.
std::string quoted(std::string_view text, std::string_view quote, bool escape_colons) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += quote;
        } else if (c == ':' && escape_colons) {
            out += "\\:";
        } else {
            out += c;
        }
    }
    return out + "'";
}

std::string zsh_quoted(const Suggestion& suggestion) {
    const std::string word = quoted(suggestion.word, "'\\''", true);
    const std::string text = quoted(suggestion.description, "'\\''", false);
    return word + "':'" + text;
}

std::string fish_quoted(std::string_view text) {
    return quoted(text, "\\'", false);
}

}  // namespace

std::string bash_completion(const std::vector<CommandEntry>& tree) {
    std::string script = R"(# bash completion of interlock: source <(interlock completion bash)
_interlock() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at="" words="" i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            )" + joined(value_options(tree), "|") +
                         R"() ((i++)); continue ;;
        esac
        case $at/${COMP_WORDS[i]} in
            )" + joined(path_keys(tree), "|") +
                         R"() at=$at/${COMP_WORDS[i]} ;;
        esac
    done
    case $at:$prev in
)";
    for (const CommandEntry& entry : tree) {
        for (const OptionEntry& option : entry.options) {
            if (!option.words.empty() && !option.names.empty()) {
                for (const std::string& name : option.names) {
                    script += "        " + path_key(entry) + ":" + name +
                              ") COMPREPLY=($(compgen -W \"" + joined(option.words, " ") +
                              "\" -- \"$cur\")); return ;;\n";
                }
            }
        }
    }
    script += "        *:" + joined(value_options(tree), "|*:") +
              ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n    esac\n    case $at in\n";
    for (const CommandEntry& entry : tree) {
        std::vector<std::string> words;
        for (const Suggestion& suggestion : suggestions(tree, entry)) {
            words.push_back(suggestion.word);
        }
        script += "        \"" + path_key(entry) + "\") words=\"" + joined(words, " ") + "\" ;;\n";
    }
    return script + R"(    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _interlock interlock
)";
}

std::string zsh_completion(const std::vector<CommandEntry>& tree) {
    std::string script = R"(#compdef interlock
# zsh completion of interlock: source <(interlock completion zsh), or a file _interlock in $fpath
_interlock() {
    local at="" i
    local -a entries
    for ((i = 2; i < CURRENT; i++)); do
        case ${words[i]} in
            ()" + joined(value_options(tree), "|") +
                         R"() ((i++)); continue ;;
        esac
        case $at/${words[i]} in
            ()" + joined(path_keys(tree), "|") +
                         R"() at=$at/${words[i]} ;;
        esac
    done
    case $at:${words[CURRENT-1]} in
)";
    for (const CommandEntry& entry : tree) {
        for (const OptionEntry& option : entry.options) {
            if (option.words.empty()) {
                continue;
            }
            for (const std::string& name : option.names) {
                script += "        (" + path_key(entry) + ":" + name + ") entries=(" +
                          joined(option.words, " ") + "); _describe value entries; return ;;\n";
            }
        }
    }
    script += "        (*:" + joined(value_options(tree), "|*:") +
              ") _files; return ;;\n    esac\n    case $at in\n";
    for (const CommandEntry& entry : tree) {
        script += "        (\"" + path_key(entry) + "\") entries=(\n";
        for (const Suggestion& suggestion : suggestions(tree, entry)) {
            script += "            " + zsh_quoted(suggestion) + "\n";
        }
        script += "        ) ;;\n";
    }
    return script + R"(    esac
    _describe command entries
}
if [[ ${funcstack[1]} == _interlock ]]; then
    _interlock "$@"
else
    compdef _interlock interlock
fi
)";
}

std::string fish_completion(const std::vector<CommandEntry>& tree) {
    std::string script = R"(# fish completion of interlock: interlock completion fish | source
function __interlock_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
            case )" + joined(path_keys(tree), " ") +
                         R"(
                set at "$at/$word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c interlock -f
)";
    for (const CommandEntry& entry : tree) {
        const std::string here =
            "complete -c interlock -n \"__interlock_at '" + path_key(entry) + "'\"";
        for (const std::string& name : entry.children) {
            const CommandEntry* child = find_child(tree, entry, name);
            script += here + " -a " + name + " -d " +
                      fish_quoted(child == nullptr ? "" : child->description) + "\n";
        }
        for (const OptionEntry& option : entry.options) {
            // The program's own options may stand anywhere.
            std::string rule = entry.path.empty() ? "complete -c interlock" : here;
            for (const std::string& name : option.names) {
                rule += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
            const std::string words =
                option.words.empty() ? "" : " -a '" + joined(option.words, " ") + "'";
            rule += option.value.empty() ? "" : (words.empty() ? " -r -F" : " -x");
            if (!option.names.empty() || !words.empty()) {
                script += rule + words + " -d " + fish_quoted(option.description) + "\n";
            }
        }
    }
    return script;
}

}  // namespace interlock
