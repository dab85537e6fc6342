#include "app/command/command_tree.h"

#include "base/text.h"

namespace interlock {
namespace {

// CLI11 puts a fixed set of values behind the type's name: "TEXT:{a,b}".
std::vector<std::string> words_in(const std::string& type) {
    const std::size_t open = type.find('{');
    const std::size_t close = type.rfind('}');
    std::vector<std::string> words;
    if (open == std::string::npos || close == std::string::npos || close < open) {
        return words;
    }
    for (const std::string_view word :
         split(std::string_view(type).substr(open + 1, close - open - 1), ',')) {
        words.emplace_back(trim(word));
    }
    return words;
}

OptionEntry entry_of(const CLI::Option& option) {
    OptionEntry entry;
    for (const std::string& name : option.get_snames()) {
        entry.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        entry.names.push_back("--" + name);
    }
    if (option.get_positional()) {
        entry.positional = option.get_name(true);
    }
    if (option.get_items_expected_max() > 0) {
        const std::string type = option.get_type_name();
        entry.value = type.substr(0, type.find(':'));
        entry.words = words_in(type);
    }
    entry.description = option.get_description();
    entry.required = option.get_required();
    return entry;
}

void add_entries(
    const CLI::App& app, std::vector<std::string> path, std::vector<CommandEntry>& entries) {
    CommandEntry entry{.path = path, .description = app.get_description()};
    for (const CLI::Option* option : app.get_options()) {
        if (!option->get_group().empty()) {  // An option without a group is hidden.
            entry.options.push_back(entry_of(*option));
        }
    }
    const std::vector<const CLI::App*> children =
        app.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
    for (const CLI::App* child : children) {
        entry.children.push_back(child->get_name());
    }
    entries.push_back(std::move(entry));
    path.emplace_back();
    for (const CLI::App* child : children) {
        path.back() = child->get_name();
        add_entries(*child, path, entries);
    }
}

}  // namespace

std::string CommandEntry::path_text() const {
    std::string text;
    for (const std::string& name : path) {
        text += (text.empty() ? "" : " ") + name;
    }
    return text;
}

std::vector<CommandEntry> command_tree(const CLI::App& app) {
    std::vector<CommandEntry> entries;
    add_entries(app, {}, entries);
    return entries;
}

}  // namespace interlock
