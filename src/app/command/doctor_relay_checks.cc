// The checks of `interlock doctor` that concern chat: platforms that are not heard, and instances
// whose mail is laid aside.
#include "app/command/console.h"
#include "app/command/doctor_checks.h"
#include "app/wiring/server_client.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kServerWait{2'000};
constexpr std::size_t kNamedMax = 5;

const Json::Array& list_at(const Json& json, std::string_view key) {
    static const Json::Array kNone;
    const Json* const list = json.find(key);
    return list != nullptr && list->is_array() ? list->items() : kNone;
}

}  // namespace

std::vector<DoctorFinding> judge_relay(const Json& status) {
    std::vector<DoctorFinding> findings;
    std::size_t hearing = 0;
    for (const Json& bot : list_at(status, "bots")) {
        const std::string state = text_at(bot, "state");
        if (state != "broken" && state != "deaf") {
            ++hearing;
            continue;
        }
        findings.push_back(
            {"relay",
             Health::bad,
             text_at(bot, "platform") + " " + text_at(bot, "bot_id") + " is " + state +
                 ", so nobody is heard there: " + text_at(bot, "detail"),
             state == "broken" ? "Correct its token or rights, then restart the server."
                               : "Check the network and the platform; the log has the reason."});
    }
    if (findings.empty() && hearing > 0) {
        findings.push_back(
            {"relay",
             Health::good,
             count_text(static_cast<std::int64_t>(hearing), "bot") + ", none of them deaf",
             {}});
    }
    std::string names;
    const Json::Array& shedding = list_at(status, "shedding");
    for (std::size_t i = 0; i < std::min(shedding.size(), kNamedMax); ++i) {
        names += (names.empty() ? "" : ", ") + text_at(shedding[i], "instance_id") + " (" +
                 text_at(shedding[i], "tenant_id") + ")";
    }
    if (!shedding.empty()) {
        findings.push_back(
            {"relay buffers",
             Health::note,
             count_text(static_cast<std::int64_t>(shedding.size()), "instance") +
                 " with a full buffer, whose new mail is laid aside: " + names +
                 (shedding.size() > kNamedMax ? ", …" : ""),
             "Start the gateway or `interlock relay deprovision` it; `interlock relay "
             "dead-letters requeue --all` afterwards."});
    }
    return findings;
}

std::vector<DoctorFinding> check_relay(const std::string& data_folder) {
    ServerClient server(data_folder, kServerWait);
    const auto status = server.get("/api/relay/status");
    if (!status) {
        return {};  // check_server() has said why.
    }
    if (!status->ok()) {
        return {
            {"relay",
             Health::bad,
             "it takes nothing: " + status->error_code(),
             "Look at the server's log for relay_shut, relay_held (a restored backup) or a lost "
             "store."}};
    }
    return judge_relay(status->body);
}

}  // namespace interlock
