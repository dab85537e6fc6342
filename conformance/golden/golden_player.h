// Plays a script on a world and writes down what was asked and what was answered, byte for byte.
//
// Over HTTP every call is written. Over MCP the same script is played again, and what an access key
// calls that is a tool goes through tools/call; only those calls are written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "golden_stage.h"

namespace interlock {

class GoldenPlayer {
public:
    enum class Face { http, mcp };
    explicit GoldenPlayer(Face face);

    // The files that came of it, by name: the transcript, and what the script had written beside.
    std::map<std::string, std::string> play(const std::string& script);
    // The tenants' chains as they stand at the end.
    std::map<std::string, std::string> chains() { return stage_.chains(); }

private:
    struct Answered {
        HttpResponse response;
        std::string operation;  // Its id, or what stands for it.
        std::string said;       // JSON to keep values of.
    };

    void take(const GoldenStep& step);
    void call(const GoldenStep& step);
    void call_tool(const GoldenStep& step, const Operation& operation);
    void rpc(const GoldenStep& step);
    void keep(const GoldenStep& step, const Answered& answered);
    HttpResponse answer_to(const ApiWorld::Sent& sent);
    HttpResponse post_rpc(const std::string& as, const std::string& method, Json params);
    // Nothing when there is one; otherwise why there is none.
    std::optional<HttpResponse> open_session(const std::string& as);

    const Operation* operation_of(const GoldenStep& step);
    bool is_key(const std::string& as);
    void write(const std::string& line);
    void write_answer(const GoldenStep& step, const Answered& answered);

    const Face face_;
    GoldenValues values_;
    GoldenStage stage_;
    std::string transcript_;
    std::map<std::string, std::string> files_;
    std::map<std::string, std::string> sessions_;  // Of MCP, by who opened them.
    int sessions_life_ = 0;
    std::int64_t rpc_number_ = 0;
};

// Whether the pattern "/api/{tenant_id}/kill" is this path's, without its query; more literal
// segments are a better fit, nothing is none.
std::optional<int> fit_of(std::string_view pattern, std::string_view path);

}  // namespace interlock
