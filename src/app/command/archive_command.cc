#include "app/command/archive_command.h"

#include <filesystem>
#include <iostream>
#include <thread>

#include "app/command/console.h"
#include "app/wiring/archive_folder.h"
#include "app/wiring/data_path.h"
#include "app/wiring/server_client.h"
#include "base/errors.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

constexpr std::int64_t kKeepDaysDefault = 30;
constexpr std::int64_t kKeepDaysMax = 36'500;
constexpr std::chrono::milliseconds kPoll{200};
// The server works on it in the background: without any progress for so long we stop watching.
constexpr std::chrono::seconds kNoProgressMax{60};

struct Options {
    std::string tenant;
    std::string folder;
    std::int64_t keep_days = kKeepDaysDefault;
};

// Hands segments to the server, or does its work when there is none.
class Remover {
public:
    explicit Remover(std::string data_folder)
        : data_folder_(std::move(data_folder)), server_(data_folder_) {}

    Result<void> archive(const ArchiveRequest& request) {
        if (offline_) {
            return offline_->archive(request);
        }
        const auto answer = server_.post("/archive/segments", encode(request));
        if (!answer && answer.error() == errors::server_unreachable) {
            TRY(open_offline());
            return offline_->archive(request);
        }
        TRY(answer);
        if (!answer->ok()) {
            const Json* error = answer->body.find("error");
            return fail(
                errors::cannot_archive,
                "The server refuses: " + text_at(error ? *error : answer->body, "message") +
                    " The file stays; nothing was removed.");
        }
        return {};
    }

    // Until everything is removed and the room is free; false: the server is still at it.
    Result<bool> finish(ProgressLine& progress) {
        if (!offline_) {
            const auto status = server_.get("/archive");
            if (status || status.error() != errors::server_unreachable) {
                return watch(progress);
            }
            TRY(open_offline());
        }
        TRY(offline_->finish());
        return true;
    }

    bool is_offline() const { return offline_ != nullptr; }

private:
    Result<void> open_offline() {
        TRY_ASSIGN(offline_, OfflineArchive::open(data_folder_));
        return {};
    }

    Result<bool> watch(ProgressLine& progress) {
        std::string last;
        auto moved_at = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - moved_at < kNoProgressMax) {
            TRY_ASSIGN(const ServerAnswer answer, server_.get("/archive"));
            const Json* is_done = answer.body.find("done");
            if (!answer.ok() || is_done == nullptr) {
                return fail(errors::unavailable, "The server does not say how far it is.");
            }
            if (is_done->as_bool()) {
                return true;
            }
            const std::string now = to_text(answer.body);
            if (now != last) {
                last = now;
                moved_at = std::chrono::steady_clock::now();
            }
            progress.show("removing what was archived");
            std::this_thread::sleep_for(kPoll);
        }
        return false;
    }

    std::string data_folder_;
    ServerClient server_;
    std::unique_ptr<OfflineArchive> offline_;
};

Result<std::vector<TenantId>> chains_of(const std::string& data_folder, const Options& options) {
    TRY_ASSIGN(const auto store, open_ledger(data_folder, LedgerView::live));
    TRY_ASSIGN(const auto heads, store->load_heads());
    std::vector<TenantId> chains;
    for (const auto& [tenant_id, head] : heads) {
        if (options.tenant.empty() || tenant_id.text() == options.tenant) {
            chains.push_back(tenant_id);
        }
    }
    if (chains.empty()) {
        return fail(errors::not_found, "There is no chain of the tenant " + options.tenant + ".");
    }
    return chains;
}

std::int64_t database_bytes(const std::string& data_folder) {
    std::int64_t sum = 0;
    for (const char* tail : {"", "-wal"}) {
        std::error_code problem;
        const auto bytes = std::filesystem::file_size(database_path(data_folder) + tail, problem);
        sum += problem ? 0 : static_cast<std::int64_t>(bytes);
    }
    return sum;
}

struct ArchiveOutcome {
    std::vector<ArchiveRequest> archived;
    std::vector<std::string> problems;
    bool is_done = false;
    std::int64_t bytes_before = 0;
    std::int64_t bytes_after = 0;
    bool was_offline = false;
};

Result<ArchiveOutcome> archive_all(
    const std::string& data_folder, const Options& options, ProgressLine& progress) {
    ArchiveWish wish{
        .data_folder = data_folder,
        .out_folder = options.folder,
        .keep = Duration::of_days(options.keep_days),
        .now = SystemClock().now(),
        .on_progress = [&](const std::string& what) { progress.show(what); }};
    if (!options.folder.empty()) {
        std::error_code problem;
        wish.out_folder =
            std::filesystem::absolute(options.folder, problem).lexically_normal().string();
    }
    TRY_ASSIGN(const auto chains, chains_of(data_folder, options));
    ArchiveOutcome outcome;
    outcome.bytes_before = database_bytes(data_folder);
    Remover remover(data_folder);
    for (const TenantId& tenant_id : chains) {
        while (true) {
            const auto request = write_segment(wish, tenant_id);
            if (!request && request.error() == errors::cannot_archive) {
                outcome.problems.push_back(request.error().message);
                break;  // The others need not wait for it.
            }
            TRY(request);
            if (!*request) {
                break;
            }
            TRY(remover.archive(**request));
            outcome.archived.push_back(**request);
        }
    }
    TRY_ASSIGN(outcome.is_done, remover.finish(progress));
    outcome.was_offline = remover.is_offline();
    outcome.bytes_after = database_bytes(data_folder);
    return outcome;
}

Json encode_outcome(const ArchiveOutcome& outcome) {
    Json segments = Json::array();
    for (const ArchiveRequest& request : outcome.archived) {
        segments.push(encode(request));
    }
    Json problems = Json::array();
    for (const std::string& problem : outcome.problems) {
        problems.push(problem);
    }
    return Json::object({
        {"segments", std::move(segments)},
        {"problems", std::move(problems)},
        {"done", outcome.is_done},
        {"by", outcome.was_offline ? "folder" : "server"},
        {"database_bytes_before", outcome.bytes_before},
        {"database_bytes_after", outcome.bytes_after},
    });
}

ExitCode run_archive(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ProgressLine progress(global.json);
    const auto outcome = archive_all(*folder, options, progress);
    progress.clear();
    if (!outcome) {
        return report_failure(global, outcome.error());
    }
    if (global.json) {
        print_json(encode_outcome(*outcome));
    } else {
        for (const ArchiveRequest& request : outcome->archived) {
            const ArchivedSegment& segment = request.segment;
            std::cout << print_safe(request.tenant_id.text()) << ": records " << segment.from
                      << " to " << segment.to << " are in " << print_safe(segment.file) << ", "
                      << segment.bytes << " bytes, sha256 " << segment.sha256 << "\n";
        }
        for (const std::string& problem : outcome->problems) {
            std::cout << "Not archived: " << print_safe(problem) << "\n";
        }
        if (outcome->archived.empty()) {
            std::cout << "Nothing is old enough: no seal but the last is older than "
                      << count_text(options.keep_days, "day") << ".\n";
        }
        std::cout << "The database has " << outcome->bytes_after
                  << " bytes (before: " << outcome->bytes_before << ")"
                  << (outcome->is_done ? ".\n" : "; the server is still removing records.\n");
    }
    return outcome->problems.empty() ? ExitCode::ok : ExitCode::refused;
}

}  // namespace

void add_archive_command(CLI::App& audit, CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* archive = audit.add_subcommand(
        "archive",
        "Put old records into verifiable files, cut at seals, and free the disk; with or without a "
        "running server.");
    archive->add_option("--tenant", options->tenant, "Whose chain; every chain when left out.")
        ->type_name("TENANT");
    archive
        ->add_option(
            "--keep", options->keep_days, "Days whose records stay in the database (30; least 1).")
        ->check(CLI::Range(std::int64_t{1}, kKeepDaysMax))
        ->type_name("DAYS");
    archive
        ->add_option(
            "--to",
            options->folder,
            "The folder for the files; archive/ of the data folder if not.")
        ->type_name("FOLDER");
    archive->callback([&line, options] {
        line.run = [&line, options] { return run_archive(line.global, *options); };
    });
}

}  // namespace interlock
