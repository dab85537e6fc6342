#include "app/command/usage_hint.h"

#include <algorithm>
#include <numeric>

namespace interlock {
namespace {

// More letters apart, and it is another word.
constexpr std::size_t kDistanceMax = 2;

// Letters to put in, leave out, change or swap with their neighbour.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::vector<std::size_t> next(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            next[j] = std::min({changed, row[j] + 1, next[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                next[j] = std::min(next[j], before[j - 2] + 1);
            }
        }
        before.swap(row);
        row.swap(next);
    }
    return row.back();
}

// "" when nothing is near enough.
std::string nearest(const std::string& word, const std::vector<std::string>& names) {
    std::string best;
    std::size_t best_distance = std::min(kDistanceMax + 1, word.size());
    for (const std::string& name : names) {
        if (const std::size_t apart = distance(word, name); apart < best_distance) {
            best = name;
            best_distance = apart;
        }
    }
    return best;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
}

bool takes_words(const CLI::App& app) {
    const auto options = app.get_options();
    return std::ranges::any_of(
        options, [](const CLI::Option* option) { return option->get_positional(); });
}

// Where the words have led so far.
struct Place {
    const CLI::App* app;
    std::string path;  // "interlock kill"
};

UsageHint hint(const Place& at, const std::string& what, const std::string& like) {
    return {
        "`" + at.path + "` has no " + what + (like.empty() ? "." : "; did you mean " + like + "?"),
        "Run `" + at.path + " --help` to see what there is."};
}

const CLI::Option* option_of(const CLI::App& root, const Place& at, const std::string& name) {
    const CLI::Option* own = at.app->get_option_no_throw(name);
    return own != nullptr ? own : root.get_option_no_throw(name);
}

UsageHint wrong_option(const CLI::App& root, const Place& at, const std::string& name) {
    std::vector<std::string> names;
    for (const CLI::App* app : {at.app, &root}) {
        for (const CLI::Option* option : app->get_options()) {
            for (const std::string& known : option->get_lnames()) {
                names.push_back("--" + known);
            }
        }
    }
    return hint(at, "option " + name, nearest(name, names));
}

UsageHint wrong_command(const Place& at, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(*at.app)) {
        names.push_back(command->get_name());
    }
    const std::string like = nearest(word, names);
    return hint(
        at, "command \"" + word + "\"", like.empty() ? "" : "`" + at.path + " " + like + "`");
}

}  // namespace

std::optional<UsageHint> usage_hint(const CLI::App& app, const std::vector<std::string>& words) {
    Place at{&app, "interlock"};
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        const std::string& word = words[i];
        if (word.starts_with("--")) {
            const std::string name = word.substr(0, word.find('='));
            const CLI::Option* option = option_of(app, at, name);
            if (option == nullptr) {
                return wrong_option(app, at, name);
            }
            const bool takes_next = name == word && option->get_items_expected_max() > 0;
            i += takes_next ? 1 : 0;
            continue;
        }
        const auto commands = commands_of(*at.app);
        const auto found = std::ranges::find(commands, word, &CLI::App::get_name);
        if (found != commands.end()) {
            at = {*found, at.path + " " + word};
        } else if (!commands.empty() && !takes_words(*at.app)) {
            return wrong_command(at, word);
        }
    }
    return std::nullopt;
}

}  // namespace interlock
