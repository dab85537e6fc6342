#include "app/command/strategy_view.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "app/command/console.h"
#include "base/text.h"
#include "trader/rules/strategy.h"

namespace interlock {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::array<std::string_view, 8> kReportBlocks{
    "identity", "control", "fit", "supervision", "position", "state", "assessment", "execution"};

const Json::Array& items_at(const Json& json, std::string_view key) {
    static const Json::Array nothing;
    const Json* list = json.find(key);
    return list != nullptr && list->is_array() ? list->items() : nothing;
}

std::string spaced(std::string_view name) {
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

// "base 0.5, quote 900" for an object of plain values.
std::string value_text(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    if (value == nullptr || !value->is_object()) {
        return text_at(json, key);
    }
    std::string text;
    for (const auto& [name, inner] : value->members()) {
        text += (text.empty() ? "" : ", ") + name + " " + text_at(*value, name);
    }
    return text.empty() ? "-" : text;
}

bool is_table(const Json& value) {
    return value.is_array() && !value.items().empty() && value.items().front().is_object();
}

// A list of objects as a table, its columns those of the first.
std::string table_of(const std::string& title, const Json& list) {
    std::vector<std::string> header;
    for (const auto& [name, value] : list.items().front().members()) {
        header.push_back(name);
    }
    Rows rows;
    for (const Json& item : list.items()) {
        std::vector<std::string> row;
        for (const std::string& name : header) {
            row.push_back(text_at(item, name));
        }
        rows.push_back(std::move(row));
    }
    return print_safe(title) + "\n" + render_table(header, rows);
}

std::string block_text(const std::string& title, const Json& block) {
    if (!block.is_object()) {
        return block.is_null() ? title + "\n-\n" : title + "\n" + print_safe(to_text(block)) + "\n";
    }
    Fields fields;
    std::string tables;
    for (const auto& [name, value] : block.members()) {
        if (is_table(value)) {
            tables += table_of(spaced(name), value);
        } else {
            fields.emplace_back(spaced(name), value_text(block, name));
        }
    }
    return title + "\n" + (fields.empty() ? "-\n" : render_fields(fields)) + tables;
}

// What a parameter may be: "1 to 20", or its words.
std::string allowed_text(const Json& parameter) {
    if (parameter.find("enum") != nullptr) {
        return text_at(parameter, "enum");
    }
    if (parameter.find("minimum") != nullptr && parameter.find("maximum") != nullptr) {
        return text_at(parameter, "minimum") + " to " + text_at(parameter, "maximum");
    }
    return text_at(parameter, "type");
}

std::string parameters_text(const Json& type) {
    const Json* schema = type.find("config_schema");
    const Json* properties = schema == nullptr ? nullptr : schema->find("properties");
    Rows rows;
    if (properties != nullptr && properties->is_object()) {
        for (const auto& [name, parameter] : properties->members()) {
            rows.push_back(
                {name,
                 text_at(parameter, "default"),
                 allowed_text(parameter),
                 text_at(parameter, "description")});
        }
    }
    return text_at(type, "strategy_type") + ": " + print_safe(text_at(type, "label")) + "\n\n" +
           render_table({"PARAMETER", "DEFAULT", "ALLOWED", "MEANING"}, rows);
}

// "running", or "blocked: disabled".
std::string status_text(const Json& strategy) {
    const Json* const blocked = strategy.find("blocked");
    const std::string status = text_at(strategy, "status");
    return status == "blocked" && blocked != nullptr && blocked->is_object()
               ? status + ": " + text_at(*blocked, "code")
               : status;
}

}  // namespace

std::string describe_strategies(const Json& answer) {
    Rows rows;
    for (const Json& one : items_at(answer, "strategies")) {
        rows.push_back(
            {text_at(one, "id"),
             text_at(one, "strategy_type"),
             text_at(one, "concern_id"),
             text_at(one, "mode"),
             status_text(one),
             text_at(one, "name")});
    }
    if (rows.empty()) {
        return "No strategies yet. Make one with `interlock strategy create`.\n";
    }
    return render_table({"STRATEGY", "TYPE", "CONCERN", "MODE", "STATUS", "NAME"}, rows);
}

std::string describe_strategy(const Json& strategy) {
    std::string text = render_fields({
        {"strategy", text_at(strategy, "id")},
        {"name", text_at(strategy, "name")},
        {"type", text_at(strategy, "strategy_type")},
        {"concern", text_at(strategy, "concern_id")},
        {"mode", text_at(strategy, "mode")},
        {"paused", text_at(strategy, "paused")},
        {"status", text_at(strategy, "status")},
        {"policy", value_text(strategy, "policy")},
        {"last error", text_at(strategy, "last_error")},
        {"created", text_at(strategy, "created_at")},
        {"updated", text_at(strategy, "updated_at")},
    });
    text += render_fields(blocked_fields(strategy));
    if (text_at(strategy, "audit_ref") != "-") {
        text += render_fields({{"record", text_at(strategy, "audit_ref")}});
    }
    for (const std::string key : {"config", "state"}) {
        if (const Json* block = strategy.find(key)) {
            text += "\n" + block_text(key, *block);
        }
    }
    if (const Json* report = strategy.find("report"); report != nullptr && report->is_object()) {
        for (const std::string_view name : kReportBlocks) {
            if (const Json* block = report->find(name)) {
                text += "\n" + block_text("report: " + std::string(name), *block);
            }
        }
    }
    return text;
}

std::string describe_concerns(const Json& answer) {
    Rows rows;
    for (const Json& one : items_at(answer, "concerns")) {
        const bool switching = text_at(one, "switching") == "true";
        rows.push_back(
            {text_at(one, "concern_id"),
             switching ? "switching" : text_at(one, "status"),
             text_at(one, "risk_mode"),
             text_at(one, "active_strategy_id"),
             text_at(one, "execution_quality"),
             text_at(one, "reasons")});
    }
    if (rows.empty()) {
        return "No concerns yet: a market becomes one with its first strategy.\n";
    }
    return render_table(
        {"CONCERN", "STATUS", "RISK MODE", "ACTIVE STRATEGY", "EXECUTION", "BECAUSE"}, rows);
}

std::string describe_types(const Json& answer, const std::string& named) {
    Rows rows;
    for (const Json& type : items_at(answer, "strategy_types")) {
        if (text_at(type, "strategy_type") == named) {
            return parameters_text(type);
        }
        const StrategyType* const known = find_strategy_type(text_at(type, "strategy_type"));
        rows.push_back(
            {text_at(type, "strategy_type"),
             known == nullptr ? "-" : std::string(known->fit.risk_profile),
             known == nullptr ? "-" : std::string(known->fit.expected_market_regime)});
    }
    return named.empty() ? render_table({"TYPE", "RISK", "MADE FOR A MARKET THAT IS"}, rows) : "";
}

std::string describe_control(const Json& result) {
    std::string headline = text_at(result, "status");
    std::transform(headline.begin(), headline.end(), headline.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    const bool dry_run = text_at(result, "dry_run") == "true";
    std::string text = print_safe(
        headline + (dry_run ? " (dry run, nothing was changed)" : "") + ": " +
        text_at(result, "action") + " on " + text_at(result, "concern_id"));
    text += "\n";
    Fields fields{
        {"decision", text_at(result, "decision_id")},
        {"from", text_at(result, "from_strategy_id")},
        {"to", text_at(result, "to_strategy_id")},
        {"risk mode", text_at(result, "risk_mode")},
        {"applied at", text_at(result, "applied_at")}};
    std::string failed;
    if (const Json* checks = result.find("validation"); checks != nullptr && checks->is_object()) {
        for (const auto& [name, passed] : checks->members()) {
            if (passed.is_bool() && !passed.as_bool()) {
                failed += (failed.empty() ? "" : ", ") + name;
            }
        }
    }
    if (text_at(result, "ok") != "true" && !failed.empty()) {
        fields.emplace_back("not so", failed);
    }
    if (text_at(result, "warnings") != "-") {
        fields.emplace_back("warnings", text_at(result, "warnings"));
    }
    for (const Json& error : items_at(result, "errors")) {
        fields.emplace_back(
            "because", text_at(error, "message") + " [" + text_at(error, "code") + "]");
        for (const Json& problem : items_at(error, "problems")) {
            fields.emplace_back("", text_at(problem, "path") + ": " + text_at(problem, "problem"));
        }
        fields.emplace_back("next", in_command_words(text_at(error, "next_step")));
    }
    return text + render_fields(fields);
}

ExitCode exit_code_of(const Json& control_result) {
    return text_at(control_result, "ok") == "true" ? ExitCode::ok : ExitCode::refused;
}

}  // namespace interlock
