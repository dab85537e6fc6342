// The check of `interlock doctor` that concerns people: whether they are told.
#include "app/command/console.h"
#include "app/command/doctor_checks.h"
#include "app/wiring/server_client.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kNoticePatience{2'000};
constexpr std::size_t kFailingNamedMax = 5;
constexpr std::string_view kNothing = "-";  // As text_at() writes null and "".

std::int64_t number_in(const Json& json, std::string_view key) {
    const Json* const value = json.find(key);
    return value == nullptr ? 0 : value->as_int64().value_or(0);
}

}  // namespace

std::vector<DoctorFinding> judge_notices(const Json& status) {
    std::string failing;
    std::size_t failing_count = 0;
    std::int64_t waiting = 0;
    const Json* last = nullptr;
    const Json* const tenants = status.find("tenants");
    const Json::Array none;
    for (const Json& one : tenants == nullptr ? none : tenants->items()) {
        waiting += number_in(one, "waiting");
        if (const std::string why = text_at(one, "failing");
            why != kNothing && ++failing_count <= kFailingNamedMax) {
            failing += (failing.empty() ? "" : ", ") + text_at(one, "tenant_id") + " (" + why + ")";
        }
        const std::string sent_at = text_at(one, "sent_at");
        if (sent_at != kNothing && (last == nullptr || sent_at > text_at(*last, "sent_at"))) {
            last = &one;
        }
    }
    std::string text = count_text(waiting, "notice") + " on their way";
    if (last != nullptr) {
        text += "; the last one left " + text_at(*last, "sent_at") + ", " +
                std::to_string(number_in(*last, "took_ms")) + " ms after what it tells";
    }
    if (failing_count == 0) {
        return {{"notices", Health::good, std::move(text), {}}};
    }
    return {
        {"notices",
         Health::warning,
         "people are not told: " + failing + (failing_count > kFailingNamedMax ? ", …" : "") +
             "; " + text,
         "Check [mail] and the tenants' webhooks; `interlock notices show` names the receiver."}};
}

std::vector<DoctorFinding> check_notices(const std::string& data_folder) {
    ServerClient server(data_folder, kNoticePatience);
    const auto status = server.get("/notices");
    if (!status || !status->ok()) {
        return {};  // check_server() has said why.
    }
    return judge_notices(status->body);
}

}  // namespace interlock
