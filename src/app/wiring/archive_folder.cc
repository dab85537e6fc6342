#include "app/wiring/archive_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "app/command/turn_line.h"
#include "app/wiring/data_path.h"
#include "app/wiring/offline_seal.h"
#include "base/errors.h"
#include "engine/service/ledger_export.h"
#include "engine/system/file_copy.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"
#include "host/service/archive_cut.h"
#include "host/service/metrics.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

Principal archiving_operator() {
    Principal principal;
    principal.kind = PrincipalKind::host_operator;
    principal.id = "local";
    return principal;
}

// A file that gets its name when it is whole and on the disk.
class NewSegment {
public:
    NewSegment(const std::string& folder, const std::string& name)
        : folder_(folder),
          path_(folder + "/" + name),
          partial_(folder + "/." + name + ".partial") {}
    ~NewSegment() {
        if (!partial_.empty()) {
            ::unlink(partial_.c_str());
        }
    }
    NewSegment(const NewSegment&) = delete;
    NewSegment& operator=(const NewSegment&) = delete;

    const std::string& partial() const { return partial_; }

    Result<void> create() const {
        std::error_code problem;
        const bool was_there = fs::exists(folder_, problem);
        fs::create_directories(folder_, problem);
        if (!was_there && !problem) {
            fs::permissions(folder_, fs::perms::owner_all, problem);
        }
        ::unlink(partial_.c_str());
        const FileDescriptor file(
            ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        return file.is_open() ? Result<void>() : system_failure("create", partial_);
    }

    Result<void> put_in_place() {
        const FileDescriptor file(::open(partial_.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file.is_open() || ::fsync(file.get()) != 0) {
            return system_failure("sync", partial_);
        }
        if (::rename(partial_.c_str(), path_.c_str()) != 0) {
            return system_failure("put in place", path_);
        }
        partial_.clear();
        return sync_folder(folder_);
    }

private:
    std::string folder_;
    std::string path_;
    std::string partial_;
};

}  // namespace

Result<std::unique_ptr<std::istream>> FolderSegments::open(const ArchivedSegment& segment) {
    for (const std::string& folder : folders_) {
        auto in = std::make_unique<std::ifstream>(folder + "/" + segment.file, std::ios::binary);
        if (*in) {
            return std::unique_ptr<std::istream>(std::move(in));
        }
    }
    return std::unique_ptr<std::istream>();
}

FolderSegments segments_of(const std::string& data_folder, const std::string& other) {
    std::vector<std::string> folders;
    if (!other.empty()) {
        folders.push_back(other);
    }
    folders.push_back(archive_folder(data_folder));
    return FolderSegments(std::move(folders));
}

std::optional<std::int64_t> segment_bytes(
    const std::string& data_folder, const std::string& folder, const std::string& file) {
    const std::string path = (folder.empty() ? archive_folder(data_folder) : folder) + "/" + file;
    struct stat found;
    if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) {
        return std::nullopt;
    }
    return found.st_size;
}

Result<std::unique_ptr<WholeLedger>> WholeLedger::open(
    const std::string& data_folder, LedgerView view, const std::string& archive) {
    TRY_ASSIGN(auto live, open_ledger(data_folder, view));
    return std::unique_ptr<WholeLedger>(
        new WholeLedger(std::move(live), segments_of(data_folder, archive)));
}

Result<std::optional<ArchiveRequest>> write_segment(
    const ArchiveWish& wish, const TenantId& tenant_id) {
    // Before the ledger: a key that is in place is named by a record that is there already.
    TRY_ASSIGN(const FolderSigner signer, FolderSigner::open(wish.data_folder));
    TRY_ASSIGN(const auto store, open_ledger(wish.data_folder, LedgerView::snapshot));
    const Duration keep = std::max(wish.keep, kArchiveKeepMin);
    TRY_ASSIGN(auto chosen, choose_segment(*store, tenant_id, wish.now - keep));
    if (!chosen) {
        return std::nullopt;
    }
    ArchivedSegment segment = *std::move(chosen);
    const std::string folder =
        wish.out_folder.empty() ? archive_folder(wish.data_folder) : wish.out_folder;
    NewSegment file(folder, segment.file);
    TRY(file.create());
    std::ofstream out(file.partial(), std::ios::binary | std::ios::trunc);
    TRY_ASSIGN(
        const ChainReport written,
        write_export(
            {.store = *store,
             .signer = signer.signer(),
             .created_at = wish.now,
             .on_progress =
                 [&](std::int64_t seq) {
                     if (wish.on_progress) {
                         wish.on_progress(
                             "archiving " + tenant_id.text() + " " + std::to_string(seq));
                     }
                 },
             .segment = SegmentRange{segment.from, segment.to}},
            tenant_id,
            out));
    out.close();
    if (written.fault) {
        return not_archived(tenant_id, *written.fault);
    }
    if (!out) {
        return fail(errors::io_failed, "cannot write all of " + file.partial());
    }
    // What is removed later is what can be read here: the file itself, not what was meant to be.
    KeyLineage keys(signer.first_public_key());
    TRY(load_lineage(*store, keys));
    std::ifstream in(file.partial(), std::ios::binary);
    TRY(confirm_segment(in, {signer.first_public_key(), keys, tenant_id}, segment));
    TRY_ASSIGN(const FileDigest digest, digest_file(file.partial()));
    segment.bytes = digest.bytes;
    segment.sha256 = digest.sha256;
    TRY(file.put_in_place());
    return ArchiveRequest{tenant_id, wish.out_folder, std::move(segment)};
}

struct OfflineArchive::Body {
    Body(DataFolder held, std::unique_ptr<SqliteLedgerStore> opened, FileHeadMirror heads)
        : folder(std::move(held)), store(std::move(opened)), mirror(std::move(heads)) {}

    OfflineLedger ledger() { return {folder, *store, mirror, clock, ids}; }

    SystemClock clock;
    RandomIdSource ids;
    DataFolder folder;
    std::unique_ptr<SqliteLedgerStore> store;
    FileHeadMirror mirror;
    Metrics metrics;
    std::optional<TurnRunner> runner;
    std::optional<TurnLine> line;
    std::optional<ArchiveService> service;
};

OfflineArchive::OfflineArchive(std::unique_ptr<Body> body) : body_(std::move(body)) {}
OfflineArchive::~OfflineArchive() = default;

Result<std::unique_ptr<OfflineArchive>> OfflineArchive::open(const std::string& data_folder) {
    RandomIdSource ids;
    TRY_ASSIGN(DataFolder folder, DataFolder::open(data_folder, ids));
    TRY_ASSIGN(auto store, SqliteLedgerStore::open({.path = database_path(data_folder)}));
    TRY_ASSIGN(FileHeadMirror mirror, FileHeadMirror::open(heads_folder(data_folder)));
    auto body = std::make_unique<Body>(std::move(folder), std::move(store), std::move(mirror));
    TRY(seal_offline(body->ledger()));
    body->runner.emplace(TurnRunner::Parts{
        *body->store,
        body->clock,
        body->ids,
        body->mirror,
        body->folder.seal_keys(),
        body->metrics});
    TRY(body->runner->open());
    body->line.emplace(*body->runner);
    body->service.emplace(ArchiveService::Parts{
        *body->runner,
        *body->store,
        body->line->submit(),
        [data_folder](const std::string& where, const std::string& file) {
            return segment_bytes(data_folder, where, file);
        }});
    TRY(body->service->open());
    return std::unique_ptr<OfflineArchive>(new OfflineArchive(std::move(body)));
}

Result<void> OfflineArchive::archive(const ArchiveRequest& request) {
    Result<void> done = fail(errors::internal, "The segment was not archived.");
    body_->service->archive(archiving_operator(), request, [&](Result<Answer> answer) {
        done = answer ? Result<void>() : std::unexpected(std::move(answer).error());
    });
    body_->line->run_all();
    return done;
}

Result<void> OfflineArchive::finish() {
    while (body_->service->has_work()) {
        body_->service->duty();
        body_->line->run_all();
    }
    TRY_ASSIGN(const bool can_shrink, body_->store->can_shrink());
    if (!can_shrink && !body_->service->progress().empty()) {
        TRY(body_->store->rewrite());
    }
    return seal_offline(body_->ledger());
}

}  // namespace interlock
