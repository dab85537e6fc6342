#include "app/wiring/backup_restore.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "app/wiring/backup_cut.h"
#include "app/wiring/data_path.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "engine/service/chain_check.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_copy.h"
#include "engine/system/file_head_log.h"

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
    const auto json = parse_json(*text);
    if (!json) {
        return not_good(std::string(kManifestName) + " is not JSON: " + json.error().message);
    }
    const Json* version = json->find("interlock_backup");
    if (version != nullptr && version->as_int64().value_or(0) > kBackupVersion) {
        return fail(
            errors::invalid_config,
            "A newer interlock made this backup.",
            "Restore it with the version that its " + std::string(kManifestName) + " names.");
    }
    auto sealed = decode_sealed_manifest(*json);
    if (!sealed) {
        return not_good(
            std::string(kManifestName) + " is no manifest of a backup: " + sealed.error().message);
    }
    return sealed;
}

// Every file that the manifest names is there and is what was sealed; with a folder to put it
// into, it is there, too.
Result<void> take_files(
    const RestoreWish& wish, const BackupManifest& manifest, const NewFolder* out) {
    for (const BackupFile& file : manifest.files) {
        if (wish.on_progress) {
            wish.on_progress(file.name);
        }
        const std::string from = wish.backup_folder + "/" + file.name;
        std::error_code problem;
        if (!fs::is_regular_file(fs::symlink_status(from, problem))) {
            return not_good("The backup's file " + file.name + " is missing or no plain file.");
        }
        if (out != nullptr) {
            TRY(out->make_room(file.name));
        }
        TRY_ASSIGN(
            const FileDigest digest,
            out == nullptr ? digest_file(from) : copy_whole(from, out->file(file.name)));
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
    if (!report.ok() && !wish.knows_breaks) {
        return fail(
            errors::corrupt_data,
            "The chains hold, but have breaks on record, behind which ledger.pub alone proves "
            "nothing.\n" +
                describe(report),
            "If you know of each of them (an earlier restore is one), give --accept-known-breaks.");
    }
    return report;
}

std::unexpected<Error> not_lost(const std::string& sentence) {
    return fail(errors::conflict, sentence, "Name the folder of the server that the backup is of.");
}

// That the folder is of the same server, later, and that nobody works in it. Whatever cannot be
// read says nothing: it is a lost one.
Result<void> check_lost(const RestoreWish& wish, const NewFolder& out) {
    const std::string& lost = wish.lost_folder;
    if (const auto holder = holder_of(lost)) {
        return fail(
            errors::conflict,
            "A server still runs in " + lost + " (process " + *holder + ").",
            "Stop it for good first: two servers on one venue account trade twice.");
    }
    const auto key = read_ledger_public_key(lost);
    TRY_ASSIGN(const std::string own, read_ledger_public_key(out.path()));
    if (key && *key != own) {
        return not_lost(lost + " is of another server: its ledger.pub is another one.");
    }
    // heads.log only grows, so what the backup has of it is how the later one begins.
    const auto later = read_head_log(head_log_path(lost));
    TRY_ASSIGN(const auto before, read_head_log(head_log_path(out.path())));
    if (later && !later->empty() &&
        (later->size() < before.size() ||
         !std::ranges::equal(before, std::span(*later).first(before.size())))) {
        return not_lost(lost + " is older than the backup, or another history of the server.");
    }
    return {};
}

// What outlived the loss knows more than the backup: the venues went on, and heads.log tells how
// far the chains had come.
Result<std::vector<std::string>> take_from_lost(const RestoreWish& wish, const NewFolder& out) {
    std::vector<std::string> taken;
    if (wish.lost_folder.empty()) {
        return taken;
    }
    TRY(check_lost(wish, out));
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
    if (wish.data_folder.empty()) {  // Writes nothing anywhere: backups lie on closed disks, too.
        TRY(take_files(wish, report.sealed.manifest, nullptr));
        TRY(check_seal(wish, report.sealed, wish.backup_folder));
        TRY_ASSIGN(report.folder, check_chains(wish, wish.backup_folder));
        return report;
    }
    TRY_ASSIGN(NewFolder out, NewFolder::make(wish.data_folder));
    TRY(take_files(wish, report.sealed.manifest, &out));
    TRY(check_seal(wish, report.sealed, out.path()));
    TRY_ASSIGN(report.folder, check_chains(wish, out.path()));
    TRY_ASSIGN(report.from_lost, take_from_lost(wish, out));
    TRY(out.put_in_place());
    return report;
}

}  // namespace interlock
