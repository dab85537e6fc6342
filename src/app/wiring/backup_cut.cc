#include "app/wiring/backup_cut.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "app/wiring/data_path.h"
#include "app/wiring/server_client.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "engine/service/chain_check.h"
#include "engine/sqlite/db_snapshot.h"
#include "engine/system/file_copy.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadFileBytesMax = 4096;
constexpr const char* kSystemSeals =
    "SELECT coalesce(max(seq), 0) FROM checkpoints WHERE tenant_id = '_system'";

bool is_there(const std::string& path) {
    std::error_code problem;
    return fs::exists(path, problem);
}

std::vector<std::string> files_below(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code problem;
    for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end;
         at.increment(problem)) {
        // What a link leads to was not put here by the server: it may be a key.
        if (fs::is_regular_file(at->symlink_status(problem))) {
            names.push_back(at->path().string());
        }
    }
    std::ranges::sort(names);
    return names;
}

// A small file that its writer writes over in place: as it was at one moment.
Result<std::string> read_unbroken(const std::string& path) {
    TRY_ASSIGN(std::string before, read_small_file(path, kHeadFileBytesMax));
    for (int reads = 0; reads < kHeadReadsMax; ++reads) {
        TRY_ASSIGN(std::string again, read_small_file(path, kHeadFileBytesMax));
        if (again == before) {
            return again;
        }
        before = std::move(again);
    }
    return fail(errors::unavailable, path + " changed with every reading; try again.");
}

// A file that is only added to, as far as it went when it was looked at. The descriptor stays good
// when a venue puts a shorter journal in its place. A line that was being written ends it torn;
// whoever opens such a file drops it.
struct OpenFile {
    std::string name;
    FileDescriptor file;
    std::int64_t bytes = 0;
};

struct Cut {
    Timestamp at;
    std::map<std::string, std::string> small_files;  // Name and bytes.
    std::vector<std::string> left_out;
    std::optional<DbSnapshot> ledger;
    std::optional<DbSnapshot> relay;
    std::vector<OpenFile> grown_files;
};

Result<void> read_heads(const std::string& data, const std::string& folder, Cut& cut) {
    for (const std::string& path : files_below(data + "/" + folder)) {
        const std::string name = path.substr(data.size() + 1);
        if (!is_backup_name(name)) {
            cut.left_out.push_back(name);
            continue;
        }
        TRY_ASSIGN(cut.small_files[name], read_unbroken(path));
    }
    return {};
}

Result<void> open_grown(const std::string& data, const std::string& name, Cut& cut) {
    const std::string path = data + "/" + name;
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat found;
    if (!file.is_open() && errno == ENOENT) {
        return {};
    }
    if (!file.is_open() || fstat(file.get(), &found) != 0) {
        return system_failure("read", path);
    }
    cut.grown_files.push_back({name, std::move(file), found.st_size});
    return {};
}

// Nothing: the sealing key may have moved on between the two databases, so that one would name a
// key that the other does not know.
Result<std::optional<Cut>> look_once(const std::string& data) {
    Cut cut;
    TRY(read_heads(data, "heads", cut));
    TRY(read_heads(data, "relay_heads", cut));
    TRY(open_grown(data, "heads.log", cut));
    TRY_ASSIGN(DbSnapshot ledger, DbSnapshot::open(database_path(data)));
    cut.at = SystemClock().now();
    TRY(open_grown(data, "paper.journal", cut));
    TRY(open_grown(data, "shadow.journal", cut));
    if (is_there(relay_database_path(data))) {
        TRY_ASSIGN(DbSnapshot relay, DbSnapshot::open(relay_database_path(data)));
        cut.relay.emplace(std::move(relay));
    }
    TRY_ASSIGN(const std::int64_t seal_then, ledger.read_integer(kSystemSeals));
    TRY_ASSIGN(DbSnapshot later, DbSnapshot::open(database_path(data)));
    TRY_ASSIGN(const std::int64_t seal_now, later.read_integer(kSystemSeals));
    if (seal_then != seal_now) {
        return std::optional<Cut>();
    }
    cut.ledger.emplace(std::move(ledger));
    return std::optional<Cut>(std::move(cut));
}

Result<Cut> look(const std::string& data) {
    for (int tries = 0; tries < kCutTriesMax; ++tries) {
        TRY_ASSIGN(std::optional<Cut> cut, look_once(data));
        if (cut) {
            return *std::move(cut);
        }
    }
    return fail(errors::unavailable, "The server sealed its chains at every try; try again.");
}

class Copier {
public:
    Copier(const BackupWish& wish, NewFolder& out) : wish_(wish), out_(out) {}

    Result<void> copy(Cut& cut) {
        left_out_ = cut.left_out;
        TRY(copy_database("interlock.db", *cut.ledger));
        cut.ledger.reset();  // The log need not keep anything for us any longer.
        if (cut.relay) {
            TRY(copy_database("relay.db", *cut.relay));
            cut.relay.reset();
        }
        for (const OpenFile& grown : cut.grown_files) {
            tell(grown.name, 0);
            TRY_ASSIGN(
                files_[grown.name],
                copy_part(
                    {.descriptor = grown.file.get(), .bytes = grown.bytes, .name = grown.name},
                    out_.file(grown.name)));
        }
        for (const auto& [name, bytes] : cut.small_files) {
            TRY(write(name, bytes));
        }
        TRY(copy_file("ledger.pub"));
        for (const std::string folder : {"archive", "pnl", "quarantine", "receipts"}) {
            for (const std::string& path : files_below(wish_.data_folder + "/" + folder)) {
                TRY(copy_file(path.substr(wish_.data_folder.size() + 1)));
            }
        }
        return {};
    }

    const std::map<std::string, FileDigest>& files() const { return files_; }
    const std::vector<std::string>& left_out() const { return left_out_; }

private:
    void tell(const std::string& what, std::int64_t bytes) const {
        if (wish_.on_progress) {
            wish_.on_progress(what, bytes);
        }
    }

    Result<void> copy_database(const std::string& name, DbSnapshot& snapshot) {
        TRY(snapshot.copy_to(out_.file(name), [&](std::int64_t bytes) { tell(name, bytes); }));
        TRY_ASSIGN(files_[name], digest_file(out_.file(name)));
        return {};
    }

    Result<void> write(const std::string& name, const std::string& bytes) {
        TRY(out_.make_room(name));
        TRY(create_file_durably({.path = out_.file(name), .bytes = bytes}));
        TRY_ASSIGN(files_[name], digest_file(out_.file(name)));
        return {};
    }

    Result<void> copy_file(const std::string& name) {
        if (!is_backup_name(name)) {
            left_out_.push_back(name);
            return {};
        }
        TRY(out_.make_room(name));
        const std::string from = wish_.data_folder + "/" + name;
        const auto digest = copy_whole(from, out_.file(name));
        if (!digest && !is_there(from)) {
            return {};  // A log of PnL was put aside between the listing and now.
        }
        if (!digest) {
            return std::unexpected(digest.error());
        }
        files_[name] = *digest;
        return {};
    }

    const BackupWish& wish_;
    NewFolder& out_;
    std::map<std::string, FileDigest> files_;
    std::vector<std::string> left_out_;
};

// By the server where there is one, so that the backup is on record; else by the key in the folder.
Result<BackupSeal> seal_of(
    const BackupWish& wish,
    const Result<FolderSigner>& signer,
    const SealBackup& request,
    bool& is_by_server) {
    auto seal = wish.ask_server(request);
    is_by_server = seal.has_value();
    if (seal || seal.error() != errors::server_unreachable) {
        return seal;
    }
    if (!signer) {
        return std::unexpected(signer.error());
    }
    const HeadSigner by = signer->signer();
    return BackupSeal{
        .epoch = by.epoch,
        .public_key = to_hex(by.key.public_key),
        .signature = to_hex(ed25519_sign(by.key, backup_text(request.manifest_sha256)))};
}

// That a restore will take it: what was sealed is read as a restore reads it.
Result<void> check_manifest(const std::string& text, const KeyLineage& keys) {
    TRY_ASSIGN(const Json json, parse_json(text));
    TRY_ASSIGN(const SealedManifest sealed, decode_sealed_manifest(json));
    const std::string why = why_not_sealed(sealed, keys);
    return why.empty() ? Result<void>() : fail(errors::unavailable, why, "Take the backup again.");
}

// A backup that lies in its own folder is lost with it.
bool lies_within(const std::string& path, const std::string& folder) {
    std::error_code problem;
    const fs::path inner = fs::weakly_canonical(path, problem);
    const fs::path outer = fs::weakly_canonical(folder, problem);
    return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

// Where a folder cannot be put in one step, it is better to know before a long copy.
Result<void> require_free_place(const std::string& path) {
    struct stat found;
    struct stat around;
    if (lstat(path.c_str(), &found) != 0) {
        return errno == ENOENT ? Result<void>() : system_failure("look at", path);
    }
    std::error_code problem;
    if (!S_ISDIR(found.st_mode)) {
        return fail(errors::conflict, path + " is there and no folder.", "Name a new folder.");
    }
    if (!fs::is_empty(path, problem) || problem) {
        return fail(
            errors::conflict, path + " is there already and not empty.", "Name a new folder.");
    }
    if (stat(fs::path(path).parent_path().c_str(), &around) == 0 && around.st_dev != found.st_dev) {
        return fail(
            errors::conflict,
            path + " is a mount point, in whose place no folder can be put.",
            "Name a new folder inside it.");
    }
    return {};
}

}  // namespace

bool is_sound(const FolderReport& report) {
    const auto holds = [](const ChainReport& chain) { return !chain.fault && chain.complete; };
    return report.damage.empty() && std::ranges::all_of(report.chains, holds) &&
           std::ranges::all_of(report.relay_chains, holds);
}

std::int64_t BackupTaken::bytes() const {
    std::int64_t sum = 0;
    for (const BackupFile& file : sealed.manifest.files) {
        sum += file.bytes;
    }
    return sum;
}

Result<NewFolder> NewFolder::make(const std::string& path) {
    std::error_code problem;
    std::string whole = fs::absolute(path, problem).lexically_normal().string();
    while (whole.size() > 1 && whole.ends_with('/')) {
        whole.pop_back();
    }
    TRY(require_free_place(whole));
    fs::create_directories(fs::path(whole).parent_path(), problem);
    const std::string partial = whole + ".partial";
    if (mkdir(partial.c_str(), 0700) != 0) {
        return errno == EEXIST
                   ? fail(
                         errors::conflict,
                         partial + " is there: another run is under way, or one was cut off.",
                         "Remove that folder when nothing writes to it.")
                   : system_failure("create", partial);
    }
    return NewFolder(std::move(whole), partial);
}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : path_(std::move(other.path_)), partial_(std::exchange(other.partial_, {})) {}

NewFolder::~NewFolder() {
    std::error_code ignored;
    if (!partial_.empty()) {
        fs::remove_all(partial_, ignored);
    }
}

Result<void> NewFolder::make_room(const std::string& name) const {
    for (std::size_t end = name.find('/'); end != std::string::npos;
         end = name.find('/', end + 1)) {
        const std::string folder = file(name.substr(0, end));
        if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
            return system_failure("create", folder);
        }
    }
    return {};
}

Result<void> NewFolder::put_in_place() {
    std::error_code problem;
    for (fs::recursive_directory_iterator at(partial_, problem), end; !problem && at != end;
         at.increment(problem)) {
        if (at->is_directory(problem)) {
            TRY(sync_folder(at->path().string()));
        }
    }
    TRY(sync_folder(partial_));
    if (rename(partial_.c_str(), path_.c_str()) != 0) {
        return system_failure("put in place", path_);
    }
    partial_.clear();
    return sync_folder(fs::path(path_).parent_path().string());
}

Result<std::vector<HeadLine>> read_cut_points(const std::string& folder) {
    std::vector<HeadLine> lines;
    const auto read = [&](std::string_view book, const std::string& path) -> Result<void> {
        if (!is_there(path)) {
            return {};
        }
        TRY_ASSIGN(const auto store, SqliteLedgerStore::open({.path = path, .read_only = true}));
        TRY_ASSIGN(const auto heads, store->load_heads());
        for (const auto& [tenant_id, head] : heads) {
            lines.push_back({std::string(book), tenant_id, {head.seq, head.hash}});
        }
        return {};
    };
    TRY(read(kLedgerBook, database_path(folder)));
    TRY(read(kRelayBook, relay_database_path(folder)));
    return lines;
}

Result<BackupTaken> take_backup(const BackupWish& wish) {
    if (!is_there(database_path(wish.data_folder))) {
        return fail(
            errors::not_found,
            "There is no ledger in " + wish.data_folder + ".",
            "Name the data folder of a server with --data.");
    }
    if (lies_within(wish.out_folder, wish.data_folder)) {
        return fail(
            errors::invalid_request,
            "A backup inside its own data folder would be lost with it.",
            "Name a folder elsewhere, best on another disk.");
    }
    TRY_ASSIGN(NewFolder out, NewFolder::make(wish.out_folder));
    // Before the database: a key that is in place is named by a record that is there already.
    const auto signer = FolderSigner::open(wish.data_folder);
    TRY_ASSIGN(const std::string public_key, read_ledger_public_key(wish.data_folder));
    TRY_ASSIGN(Cut cut, look(wish.data_folder));
    Copier copier(wish, out);
    TRY(copier.copy(cut));
    BackupTaken taken;
    taken.left_out = copier.left_out();
    TRY_ASSIGN(taken.report, verify_folder({.data_folder = out.path(), .from_last_seal = true}));
    if (!is_sound(taken.report)) {
        return fail(
            errors::corrupt_data,
            "What was copied does not verify, so nothing was kept.\n" + describe(taken.report),
            "Run `interlock audit verify` on the data folder, and keep a copy of it as it is.");
    }
    BackupManifest& manifest = taken.sealed.manifest;
    manifest.created_at = cut.at;
    manifest.program = wish.program;
    manifest.public_key = to_hex(public_key);
    TRY_ASSIGN(manifest.chains, read_cut_points(out.path()));
    SealBackup request;
    for (const auto& [name, digest] : copier.files()) {
        manifest.files.push_back({name, digest.bytes, digest.sha256});
        request.bytes += digest.bytes;
    }
    TRY_ASSIGN(request.manifest_sha256, digest_of(manifest));
    request.files = std::ssize(manifest.files);
    KeyLineage keys(public_key);
    {
        TRY_ASSIGN(const auto store, open_ledger(out.path(), LedgerView::snapshot));
        TRY(load_lineage(*store, keys));
    }
    request.epoch = keys.last_epoch();
    TRY_ASSIGN(taken.sealed.seal, seal_of(wish, signer, request, taken.is_sealed_by_server));
    const std::string text = to_pretty_text(encode(taken.sealed)) + "\n";
    TRY(check_manifest(text, keys));
    TRY(create_file_durably({.path = out.file(std::string(kManifestName)), .bytes = text}));
    TRY(out.put_in_place());
    return taken;
}

}  // namespace interlock
