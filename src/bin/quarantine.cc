#include "bin/quarantine.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "bin/data_path.h"

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

}  // namespace

void keep_evidence(const std::string& data_folder, const ChainReport& report, Timestamp now) {
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
    std::ofstream(folder + "/report.json") << to_pretty_text(encode(report)) << "\n";
    copy_if_there(
        heads_folder(data_folder) + "/" + report.tenant_id.text() + ".head", folder + "/head");
    copy_if_there(head_log_path(data_folder), folder + "/heads.log");
    log_warn("chain_quarantined", {{"tenant_id", report.tenant_id.text()}, {"evidence", folder}});
}

}  // namespace interlock
