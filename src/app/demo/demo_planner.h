// An agent of the demo: it calls the planner's tools over HTTP with its access key, exactly as any
// agent would, and keeps the bytes of every answer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "net/http_client.h"

namespace interlock {

struct DemoAnswer {
    int status = 0;
    std::string bytes;
    Json json;
    std::chrono::nanoseconds took{};

    std::string audit_ref() const;
};

struct DemoOrder {
    std::string symbol;
    std::string side;
    std::string qty;
    std::string limit_price = {};  // Empty: at the market.
};

class DemoPlanner {
public:
    struct Parts {
        std::string data_folder;  // Whose server is called.
        std::string tenant;
        std::string access_key;
        std::string run;  // In every id, so that one play never repeats another's.
    };
    explicit DemoPlanner(Parts parts);

    const Parts& parts() const { return parts_; }
    std::string decision_id(const std::string& name) const { return parts_.run + "_" + name; }

    // One tool call under a fresh key.
    Result<DemoAnswer> state(const std::string& decision);
    Result<DemoAnswer> snapshot(const std::string& decision, const std::string& symbol);
    Result<DemoAnswer> validate(const std::string& decision, const DemoOrder& order);
    Result<DemoAnswer> dry_run(const std::string& decision, const DemoOrder& order);
    // The body of py_execute_plan, to be sent now or again; `dry_run` names the order's id.
    Json execute_body(
        const std::string& decision, const DemoOrder& order, const DemoAnswer& dry_run);
    Result<DemoAnswer> execute(const Json& body) { return post("py_execute_plan", body); }
    Result<DemoAnswer> verify(const std::string& decision, const std::string& order_client_id);

    Result<DemoAnswer> account() { return get("/account"); }
    Result<DemoAnswer> decision(const std::string& id) { return get("/decisions/" + id); }

private:
    Json body_of(const std::string& decision);
    Result<DemoAnswer> post(const std::string& tool, const Json& body);
    Result<DemoAnswer> get(const std::string& path);
    Result<DemoAnswer> send(HttpRequest request);

    Parts parts_;
    std::unique_ptr<HttpClient> client_;
    int keys_ = 0;
};

// Between two looks at something that cannot ring.
void pause_for(std::chrono::milliseconds time);

// Asks until `is_there` or the time is over; gives the last answer.
Result<DemoAnswer> ask_until(
    const std::function<Result<DemoAnswer>()>& ask,
    const std::function<bool(const DemoAnswer&)>& is_there,
    std::chrono::milliseconds patience);

// The value at a path of keys, "" when any is absent. Numbers in a path count in lists.
std::string demo_text(const Json& json, const std::vector<std::string>& path);

}  // namespace interlock
