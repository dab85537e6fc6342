#include "golden_player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "fixed_random.h"
#include "golden_files.h"

namespace interlock {
namespace {

constexpr std::string_view kIndent = "    ";
constexpr std::string_view kMcpVersion = "2025-11-25";
constexpr int kEffectRoundsMax = 5;
constexpr int kSessionIsGone = 404;
constexpr std::size_t kShownOfFailure = 4'000;

// What every answer over HTTP says; shown only where one says otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kUsual{{
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
}};

bool is_usual(const HttpHeader& header) {
    for (const auto& [name, value] : kUsual) {
        if (header.first == name) {
            return header.second == value;
        }
    }
    return header.first == "Content-Type";
}

// prometheus-cpp keeps its rows in a hash map, whose order is the library's own affair.
std::string in_order(std::string_view metrics) {
    std::vector<std::string_view> lines = split(metrics, '\n');
    std::ranges::sort(lines);
    std::string text;
    for (const std::string_view line : lines) {
        text += line.empty() ? "" : std::string(line) + "\n";
    }
    return text;
}

ApiWorld::Sent mcp_post(const std::string& as, const Json& message) {
    return {
        .as = as,
        .method = "POST",
        .path = "/mcp",
        .body = to_text(message),
        .headers = {
            {"Content-Type", "application/json"},
            {"Accept", "application/json, text/event-stream"}}};
}

Json params_of(const std::string& body) {
    if (body.empty()) {
        return Json::object();
    }
    auto json = parse_json(body);
    EXPECT_TRUE(json) << body;
    return json ? *std::move(json) : Json::object();
}

}  // namespace

std::optional<int> fit_of(std::string_view pattern, std::string_view path) {
    const auto wanted = split(pattern, '/');
    const auto found = split(path.substr(0, path.find('?')), '/');
    if (wanted.size() != found.size()) {
        return std::nullopt;
    }
    int fit = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].starts_with('{')) {
            continue;
        }
        if (wanted[i] != found[i]) {
            return std::nullopt;
        }
        ++fit;
    }
    return fit;
}

GoldenPlayer::GoldenPlayer(Face face) : face_(face), stage_(values_) {
    fix_random();
}

std::map<std::string, std::string> GoldenPlayer::play(const std::string& script) {
    int number = 0;
    for (const std::string& line : golden_lines(script)) {
        SCOPED_TRACE("step " + std::to_string(++number) + ": " + line);
        const GoldenStep step = read_golden_step(line, values_);
        take(step);
        if (testing::Test::HasFailure()) {
            const std::size_t shown = std::min(transcript_.size(), kShownOfFailure);
            std::cout << "The transcript ends:\n" << transcript_.substr(transcript_.size() - shown);
            break;
        }
    }
    files_.merge(stage_.take_files());
    std::map<std::string, std::string> files = std::exchange(files_, {});
    files[face_ == Face::http ? "answers.txt" : "mcp.txt"] = std::exchange(transcript_, {});
    return files;
}

void GoldenPlayer::take(const GoldenStep& step) {
    switch (step.kind) {
        case GoldenStep::Kind::remark:
            if (face_ == Face::http && !step.text.empty()) {
                write(step.text + "\n");
            }
            return;
        case GoldenStep::Kind::directive: {
            const std::vector<std::string> lines = stage_.run(step);
            if (face_ == Face::http) {
                write(step.text);
                for (const std::string& line : lines) {
                    write(std::string(kIndent) + line);
                }
                write("");
            }
            return;
        }
        case GoldenStep::Kind::call:
            call(step);
            return;
        case GoldenStep::Kind::rpc:
            rpc(step);
            return;
    }
}

const Operation* GoldenPlayer::operation_of(const GoldenStep& step) {
    std::string path = step.path;
    if (path.starts_with("/ilk_")) {  // The key stands for /api/{tenant_id}.
        path = "/api/demo" + path.substr(std::min(path.find('/', 1), path.size()));
    }
    const Operation* best = nullptr;
    int best_fit = -1;
    for (const Operation& operation : stage_.world().table().all()) {
        const auto fit = fit_of(operation.path, path);
        if (fit && operation.method == step.method && *fit > best_fit) {
            best = &operation;
            best_fit = *fit;
        }
    }
    return best;
}

bool GoldenPlayer::is_key(const std::string& as) {
    return as != "nobody" && as != "bad_key" && as != "revoked_agent" &&
           stage_.world().credential(as).starts_with("ilk_");
}

void GoldenPlayer::call(const GoldenStep& step) {
    const Operation* operation = operation_of(step);
    const bool has_arguments = step.body.empty() || step.body.starts_with('{');
    const bool is_tool = operation != nullptr && operation->tool && has_arguments;
    if (face_ == Face::mcp && is_tool && is_key(step.as)) {
        call_tool(step, *operation);
        return;
    }
    Answered answered{
        answer_to(
            {.as = step.as,
             .method = step.method,
             .path = step.path,
             .body = step.body,
             .headers = step.headers}),
        operation == nullptr ? "-" : operation->id,
        {}};
    answered.said = answered.response.body;
    if (face_ == Face::http) {
        write(step.text);
        write_answer(step, answered);
    }
    keep(step, answered);
}

// Path, query and body as the arguments of one tool.
void GoldenPlayer::call_tool(const GoldenStep& step, const Operation& operation) {
    Json arguments = params_of(step.body);
    const std::size_t mark = step.path.find('?');
    const auto wanted = split(operation.path, '/');
    const auto found = split(std::string_view(step.path).substr(0, mark), '/');
    for (std::size_t i = 0; i < wanted.size() && i < found.size(); ++i) {
        if (wanted[i].starts_with('{') && wanted[i] != "{tenant_id}") {
            arguments.set(
                std::string(wanted[i].substr(1, wanted[i].size() - 2)),
                percent_decode(found[i]).value());
        }
    }
    if (mark != std::string::npos) {
        for (const std::string_view part :
             split(std::string_view(step.path).substr(mark + 1), '&')) {
            const std::size_t equals = std::min(part.find('='), part.size() - 1);
            arguments.set(
                std::string(part.substr(0, equals)),
                percent_decode(part.substr(equals + 1), true).value());
        }
    }
    const std::string name = tool_name(operation);
    const Json params = Json::object({{"name", name}, {"arguments", arguments}});
    const HttpResponse response = post_rpc(step.as, "tools/call", params);
    write(step.as + " " + name + " " + to_text(arguments));
    Answered answered{response, operation.id, {}};
    write_answer(step, answered);
    if (!step.keeps.empty()) {
        answered.said = golden_value(response.body, "result.content.0.text");
        keep(step, answered);
    }
}

void GoldenPlayer::rpc(const GoldenStep& step) {
    Answered answered{post_rpc(step.as, step.method, params_of(step.body)), "mcp", {}};
    answered.said = answered.response.body;
    if (face_ == Face::http) {
        write(step.text);
        write_answer(step, answered);
    }
    keep(step, answered);
}

HttpResponse GoldenPlayer::answer_to(const ApiWorld::Sent& sent) {
    const auto response = stage_.world().send_later(sent);
    for (int i = 0; i < kEffectRoundsMax && !response->has_value(); ++i) {
        stage_.world().plane_world().run_effects();
    }
    EXPECT_TRUE(response->has_value()) << "never answered: " << sent.method << " " << sent.path;
    return response->value_or(HttpResponse{});
}

HttpResponse GoldenPlayer::post_rpc(const std::string& as, const std::string& method, Json params) {
    const Json message = Json::object(
        {{"jsonrpc", "2.0"},
         {"id", ++rpc_number_},
         {"method", method},
         {"params", std::move(params)}});
    HttpResponse response;
    do {
        if (auto refusal = open_session(as)) {
            return *std::move(refusal);
        }
        ApiWorld::Sent sent = mcp_post(as, message);
        sent.headers.emplace_back("Mcp-Session-Id", sessions_.at(as));
        sent.headers.emplace_back("MCP-Protocol-Version", kMcpVersion);
        response = answer_to(sent);
    } while (response.status == kSessionIsGone && sessions_.erase(as) > 0);
    std::erase_if(response.headers, [](const HttpHeader& header) {
        return header.first == "Mcp-Session-Id";
    });
    return response;
}

std::optional<HttpResponse> GoldenPlayer::open_session(const std::string& as) {
    if (std::exchange(sessions_life_, stage_.life()) != stage_.life()) {
        sessions_.clear();
    }
    if (sessions_.contains(as)) {
        return std::nullopt;
    }
    const Json params = Json::object(
        {{"protocolVersion", kMcpVersion},
         {"capabilities", Json::object()},
         {"clientInfo", Json::object({{"name", "golden"}, {"version", "1"}})}});
    const HttpResponse opened = answer_to(mcp_post(
        as,
        Json::object(
            {{"jsonrpc", "2.0"},
             {"id", ++rpc_number_},
             {"method", "initialize"},
             {"params", params}})));
    const auto id = opened.header("Mcp-Session-Id");
    if (!id) {
        return opened;
    }
    sessions_[as] = std::string(*id);
    write(as + " RPC initialize " + to_text(params));
    write_answer(GoldenStep(), {opened, "mcp", {}});
    ApiWorld::Sent initialized =
        mcp_post(as, Json::object({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}));
    initialized.headers.emplace_back("Mcp-Session-Id", sessions_[as]);
    EXPECT_EQ(answer_to(initialized).status, 202);
    return std::nullopt;
}

void GoldenPlayer::keep(const GoldenStep& step, const Answered& answered) {
    for (const auto& [name, pointer] : step.keeps) {
        if (name == "file") {
            continue;
        }
        const std::string value = golden_value(answered.said, pointer);
        if (name.starts_with('@')) {
            stage_.world().know(name.substr(1), value);
        } else {
            values_[name] = value;
        }
    }
}

void GoldenPlayer::write(const std::string& line) {
    transcript_ += line + "\n";
}

void GoldenPlayer::write_answer(const GoldenStep& step, const Answered& answered) {
    const HttpResponse& response = answered.response;
    const std::string type(response.header("Content-Type").value_or(""));
    const std::string indent(kIndent);
    write(indent + answered.operation + " " + std::to_string(response.status) + " " + type);
    for (const HttpHeader& header : response.headers) {
        if (!is_usual(header)) {
            write(indent + header.first + ": " + header.second);
        }
    }
    for (const auto& [name, value] : kUsual) {
        if (!response.header(name) && answered.operation != "mcp" && face_ == Face::http) {
            write(indent + "without " + std::string(name));
        }
    }
    const auto keeps_file = std::ranges::find(step.keeps, std::string("file"), &GoldenKeep::name);
    const std::string digest =
        "sha256 " + sha256_hex(response.body) + " of " + std::to_string(response.body.size());
    if (keeps_file != step.keeps.end()) {
        files_.merge(golden_documents(keeps_file->pointer, response.body));
        write(indent + digest + " bytes, as in " + keeps_file->pointer);
    } else if (type.starts_with("application/json")) {
        EXPECT_EQ(response.body.find('\n'), std::string::npos) << response.body;
        write(indent + response.body);
    } else if (type.starts_with("text/plain") || type.starts_with("text/csv")) {
        const bool is_metrics = answered.operation == "metrics";
        const std::string text = is_metrics ? in_order(response.body) : response.body;
        for (const std::string_view line : split(text, '\n')) {
            write(indent + "| " + std::string(line));
        }
    } else if (!response.body.empty()) {
        write(indent + digest + " bytes");
    }
    write("");
}

}  // namespace interlock
