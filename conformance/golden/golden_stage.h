// The world behind a script, and what happens in it besides calls: time, the market, faults,
// restarts, gateways that dial in. Everything is seeded or turned by hand, so a script gives the
// same bytes on every machine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api_world.h"
#include "golden_script.h"

namespace interlock {

class GoldenStage {
public:
    explicit GoldenStage(GoldenValues& values);

    // What the directive made visible, line by line; most make nothing.
    std::vector<std::string> run(const GoldenStep& step);

    ApiWorld& world() { return *world_; }
    bool has_world() const { return world_ != nullptr; }
    // Grows with each restart: sessions of MCP are gone then.
    int life() const { return life_; }
    // Of receipts that the script had written.
    std::map<std::string, std::string> take_files() { return std::exchange(files_, {}); }
    // The chains of all tenants, of the loop's ledger and of the relay's: the very texts that are
    // hashed, one a line, by the name of the file that holds them.
    std::map<std::string, std::string> chains();

private:
    using Words = std::vector<std::string>;
    using Lines = std::vector<std::string>;
    struct Gateway {
        RelaySessionPtr session;
        std::shared_ptr<RecordingSocket> socket;
    };

    void add_world_directives();
    void add_time_directives();
    void add_ledger_directives();
    void add_relay_directives();

    void open_world(const std::string& kind);
    void restore();
    void change_account(const std::string& how);
    void write_segment(const TenantId& tenant_id);
    void write_receipt_of(const std::string& decision, const std::string& file);
    void keep_letter_code(const std::string& to);
    Lines letters_since();
    Lines frames_of(const std::string& gateway, std::size_t count);

    GoldenValues& values_;
    std::map<std::string, std::function<Lines(const GoldenStep&)>> directives_;
    std::unique_ptr<ApiWorld> world_;
    std::map<std::string, Gateway> gateways_;
    std::map<std::string, std::string> files_;
    std::map<const void*, std::size_t> shown_;  // Of letters and posts, by who keeps them.
    int life_ = 0;
};

// The value in a JSON document that a pointer such as "dry_run.projected.0.order_client_id" names:
// the text of a string, the JSON of anything else. Fails the test when there is none.
std::string golden_value(const std::string& json, const std::string& pointer);

}  // namespace interlock
