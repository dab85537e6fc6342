#include "bin/backup_restore.h"

#include <filesystem>

#include "adapters/system/file_copy.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "bin/backup_cut.h"
#include "bin/data_path.h"
#include "services/chain_check.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> not_good(const std::string& sentence) {
    return fail(
        errors::corrupt_data,
        sentence,
        "Take another backup; this one is not what the server sealed.");
}

Result<SealedManifest> read_manifest(const std::string& folder) {
    const auto text = read_small_file(folder + "/" + std::string(kManifestName), kManifestBytesMax);
    if (!text) {
        return text.error() == errors::not_found
                   ? fail(
                         errors::not_found,
                         folder + " holds no " + std::string(kManifestName) + ".",
                         "Name a folder that `interlock backup` made.")
                   : std::unexpected(text.error());
    }
    TRY_ASSIGN(const Json json, parse_json(*text));
    return decode_sealed_manifest(json);
}

Result<void> copy_files(
    const RestoreWish& wish, const BackupManifest& manifest, const NewFolder& out) {
    for (const BackupFile& file : manifest.files) {
        if (wish.on_progress) {
            wish.on_progress(file.name);
        }
        const std::string from = wish.backup_folder + "/" + file.name;
        std::error_code problem;
        if (!fs::is_regular_file(fs::symlink_status(from, problem))) {
            return not_good("The backup's file " + file.name + " is missing.");
        }
        TRY(out.make_room(file.name));
        TRY_ASSIGN(const FileDigest digest, copy_whole(from, out.file(file.name)));
        if (digest != FileDigest{file.bytes, file.sha256}) {
            return not_good("The backup's file " + file.name + " is not what was sealed.");
        }
    }
    return {};
}

// The folder with the files in place: are they what the manifest's seal is about?
Result<void> check_seal(
    const RestoreWish& wish, const SealedManifest& sealed, const std::string& folder) {
    TRY_ASSIGN(const std::string first, read_ledger_public_key(folder));
    if (!wish.public_key.empty() && wish.public_key != first) {
        return fail(
            errors::invalid_request,
            "The backup is of another server: its ledger.pub is not the key given.",
            "Give the ledger.pub that you kept of the server you want back.");
    }
    TRY_ASSIGN(const auto store, open_ledger(folder, LedgerView::snapshot));
    KeyLineage keys(first);
    TRY(load_lineage(*store, keys));
    if (const std::string why = why_not_sealed(sealed, std::move(keys)); !why.empty()) {
        return not_good(why);
    }
    TRY_ASSIGN(const auto cut, read_cut_points(folder));
    if (cut != sealed.manifest.chains) {
        return not_good("The chains do not end where the manifest says.");
    }
    return {};
}

Result<FolderReport> check_chains(const RestoreWish& wish, const std::string& folder) {
    FolderCheck check;
    check.data_folder = folder;
    check.check_artifacts = wish.check_artifacts;
    if (wish.on_progress) {
        check.on_progress = [&](const TenantId& tenant_id, std::int64_t) {
            wish.on_progress("verifying " + tenant_id.text());
        };
    }
    TRY_ASSIGN(FolderReport report, verify_folder(check));
    if (!is_sound(report)) {
        return not_good("The backup does not verify.\n" + describe(report));
    }
    return report;
}

// What outlived the loss knows more than the backup: the venues went on, and heads.log tells how
// far the chains had come.
Result<std::vector<std::string>> take_from_lost(const RestoreWish& wish, const NewFolder& out) {
    std::vector<std::string> taken;
    if (wish.lost_folder.empty()) {
        return taken;
    }
    for (const std::string name : {"heads.log", "paper.journal", "shadow.journal"}) {
        const std::string from = wish.lost_folder + "/" + name;
        std::error_code problem;
        if (!fs::exists(from, problem)) {
            continue;
        }
        fs::remove(out.file(name), problem);
        TRY(copy_whole(from, out.file(name)));
        taken.push_back(name);
    }
    if (taken.empty()) {
        return fail(
            errors::not_found,
            wish.lost_folder + " has neither a venue's journal nor a heads.log.",
            "Leave --lost out when nothing of the lost server can be read.");
    }
    return taken;
}

}  // namespace

Result<RestoreReport> restore_backup(const RestoreWish& wish) {
    RestoreReport report;
    TRY_ASSIGN(report.sealed, read_manifest(wish.backup_folder));
    const bool is_check_only = wish.data_folder.empty();
    // A check needs the files in a folder of their own, too: SQLite writes beside what it reads.
    TRY_ASSIGN(
        NewFolder out,
        NewFolder::make(is_check_only ? wish.backup_folder + ".check" : wish.data_folder));
    TRY(copy_files(wish, report.sealed.manifest, out));
    TRY(check_seal(wish, report.sealed, out.path()));
    TRY_ASSIGN(report.folder, check_chains(wish, out.path()));
    if (is_check_only) {
        return report;
    }
    TRY_ASSIGN(report.from_lost, take_from_lost(wish, out));
    TRY(out.put_in_place());
    return report;
}

}  // namespace interlock
