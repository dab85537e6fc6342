// Takes one consistent cut of a data folder, with or without a server at work in it (ADR 0023).
//
// The order of looking makes the cut: what may only lag behind the database (head files, heads.log)
// is read before it, what may only be ahead of it (the venues' journals, the relay's chains) after
// it. Nobody is stopped or waited for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/wiring/ledger_folder.h"
#include "host/rules/backup_manifest.h"
#include "host/service/backup_service.h"

namespace interlock {

// How often the cut is begun anew because the sealing key moved on in its middle.
inline constexpr int kCutTriesMax = 20;
// How often a head file is read until two readings are equal: the server writes it in place.
inline constexpr int kHeadReadsMax = 20;

struct BackupWish {
    std::string data_folder;
    std::string out_folder;  // Must not exist, or be empty.
    std::string program;     // Version.
    // Asks the running server to vouch; `server_unreachable` when there is none.
    std::function<Result<BackupSeal>(const SealBackup&)> ask_server;
    std::function<void(const std::string& what, std::int64_t bytes)> on_progress = {};
};
struct BackupTaken {
    SealedManifest sealed;
    FolderReport report;  // Of the backup itself, since its last seals.
    bool is_sealed_by_server = false;
    std::vector<std::string> left_out;  // Files that have no place in a backup, by name.
    std::int64_t bytes() const;
};
Result<BackupTaken> take_backup(const BackupWish& wish);

// Whether every chain holds. What was broken before and is on record stays so; it is not the
// backup's to judge.
bool is_sound(const FolderReport& report);

// A folder as something that becomes visible whole: made beside its place, then moved there. What
// was not moved is removed again.
class NewFolder {
public:
    static Result<NewFolder> make(const std::string& path);
    ~NewFolder();
    NewFolder(NewFolder&& other) noexcept;
    NewFolder& operator=(NewFolder&&) = delete;

    const std::string& path() const { return partial_; }
    std::string file(const std::string& name) const { return partial_ + "/" + name; }
    // Makes the folders that a file's name needs.
    Result<void> make_room(const std::string& name) const;
    Result<void> put_in_place();

private:
    NewFolder(std::string path, std::string partial)
        : path_(std::move(path)), partial_(std::move(partial)) {}
    std::string path_;
    std::string partial_;  // Empty: moved.
};

// The heads of all chains in a folder's databases, in order.
Result<std::vector<HeadLine>> read_cut_points(const std::string& folder);

}  // namespace interlock
