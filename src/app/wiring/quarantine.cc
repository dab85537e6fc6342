#include "app/wiring/quarantine.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "app/wiring/data_path.h"
#include "base/log.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

void copy_if_there(const std::string& from, const std::string& to) {
    std::error_code problem;
    if (fs::exists(from, problem)) {
        fs::copy_file(from, to, problem);
    }
    if (problem) {
        log_error("evidence_not_kept", {{"file", from}, {"message", problem.message()}});
    }
}

// What each changed row was said to be and what it is.
Json rows_of(const ChainReport& report, LedgerStore& store) {
    const auto or_null = [](const std::string& hash) { return hash.empty() ? Json() : Json(hash); };
    Json rows = Json::array();
    for (const RowFault& row : report.rows) {
        if (rows.items().size() >= kBreakRowsMax) {
            break;  // The number of all is in the report's detail.
        }
        Json told = Json::object({
            {"key", row.key},
            {"problem", row.reason},
            {"said_sha256", or_null(row.said)},
            {"found_sha256", or_null(row.found)},
        });
        if (may_be_told(row.key)) {
            const auto found = store.load_state(row.key);
            told.set("found", found && *found ? Json((*found)->json) : Json());
        }
        rows.push(std::move(told));
    }
    return rows;
}

}  // namespace

bool may_be_told(std::string_view machine_key) {
    constexpr std::array<std::string_view, 7> kPrefixes{
        "account/", "approval/", "archive/", "break/", "kill/", "loop/", "restore/"};
    return std::ranges::any_of(
        kPrefixes, [&](std::string_view prefix) { return machine_key.starts_with(prefix); });
}

void keep_evidence(
    const std::string& data_folder, const ChainReport& report, Timestamp now, LedgerStore& store) {
    const std::string name = report.tenant_id.text() + "-" +
                             std::to_string(report.fault ? report.fault->seq : 0) + "-" +
                             std::to_string(now.microseconds / 1'000'000);
    const std::string folder = quarantine_folder(data_folder) + "/" + name;
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem) {
        log_error("evidence_not_kept", {{"file", folder}, {"message", problem.message()}});
        return;
    }
    chmod(quarantine_folder(data_folder).c_str(), 0700);
    Json told = encode(report);
    told.set("rows", rows_of(report, store));
    std::ofstream file(folder + "/report.json");
    file << to_pretty_text(told) << "\n";
    file.close();
    if (!file) {
        log_error("evidence_not_kept", {{"file", folder + "/report.json"}});
    }
    copy_if_there(
        heads_folder(data_folder) + "/" + report.tenant_id.text() + ".head", folder + "/head");
    copy_if_there(head_log_path(data_folder), folder + "/heads.log");
    log_warn("chain_quarantined", {{"tenant_id", report.tenant_id.text()}, {"evidence", folder}});
}

}  // namespace interlock
