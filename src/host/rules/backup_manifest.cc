#include "host/rules/backup_manifest.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/canonical_json.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/text.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 6> kFileNames{
    "heads.log", "interlock.db", "ledger.pub", "paper.journal", "relay.db", "shadow.journal"};
constexpr std::array<std::string_view, 6> kFolderNames{
    "archive", "heads", "pnl", "quarantine", "receipts", "relay_heads"};
// What signs or lets somebody in, by how the last part of its name begins.
constexpr std::array<std::string_view, 3> kSecretNames{
    "ledger.key", "master.key", "operator.token"};
constexpr std::size_t kNamePartsMax = 4;
constexpr std::size_t kNameLengthMax = 255;
constexpr std::size_t kKeyStepsMax = 1000;

bool is_plain_part(std::string_view part) {
    const auto is_secret = [part](std::string_view name) { return part.starts_with(name); };
    return !part.empty() && part.front() != '.' && std::ranges::none_of(kSecretNames, is_secret) &&
           std::ranges::all_of(part, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
           });
}

Json encode_file(const BackupFile& file) {
    return Json::object({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
}

BackupFile read_file(FieldReader& in) {
    BackupFile file{
        .name = in.required<std::string>("name"),
        .bytes = in.required<std::int64_t>("bytes"),
        .sha256 = in.required<std::string>("sha256"),
    };
    if (in.ok() && !is_backup_name(file.name)) {
        in.add_problem("name", "is no file of a backup");
    }
    if (in.ok() && file.bytes < 0) {
        in.add_problem("bytes", "must not be negative");
    }
    in.reject_unknown();
    return file;
}

// Every object of a list, read by `read`; what is wrong with one is wrong with the list.
template <class T, class Read>
std::vector<T> read_list(FieldReader& in, std::string_view key, std::size_t max, Read read) {
    std::vector<T> list;
    for (const Json& item : in.required_array(key, max)) {
        FieldReader one(item, in.path_of(key));
        list.push_back(read(one));
        if (auto whole = one.finish(true); !whole) {
            in.absorb(whole.error());
        }
    }
    return list;
}

HeadLine read_chain(FieldReader& in) {
    HeadLine line{
        .book = in.required<std::string>("book"),
        .tenant_id = in.required<TenantId>("tenant_id"),
        .head = {in.required<std::int64_t>("seq"), in.required<std::string>("hash")},
    };
    in.reject_unknown();
    return line;
}

KeyStep read_step(FieldReader& in) {
    KeyStep step{
        .epoch = in.required<std::int64_t>("epoch"),
        .public_key = in.required<std::string>("public_key"),
        .signature = in.required<std::string>("signature"),
    };
    in.reject_unknown();
    return step;
}

BackupManifest read_manifest(FieldReader& in) {
    in.required_integer("interlock_backup", kBackupVersion, kBackupVersion);
    return {
        .created_at = in.required<Timestamp>("created_at"),
        .program = in.required<std::string>("program"),
        .public_key = in.required<std::string>("public_key"),
        .chains = read_list<HeadLine>(in, "chains", kBackupChainsMax, read_chain),
        .files = read_list<BackupFile>(in, "files", kBackupFilesMax, read_file),
    };
}

}  // namespace

Json encode(const BackupSeal& seal) {
    Json keys = Json::array();
    for (const KeyStep& step : seal.keys) {
        keys.push(Json::object(
            {{"epoch", step.epoch},
             {"public_key", step.public_key},
             {"signature", step.signature}}));
    }
    return Json::object({
        {"epoch", seal.epoch},
        {"public_key", seal.public_key},
        {"keys", std::move(keys)},
        {"signature", seal.signature},
    });
}

Result<BackupSeal> decode_backup_seal(const Json& json) {
    FieldReader in(json);
    BackupSeal seal{
        .epoch = in.required<std::int64_t>("epoch"),
        .public_key = in.required<std::string>("public_key"),
        .keys = read_list<KeyStep>(in, "keys", kKeyStepsMax, read_step),
        .signature = in.required<std::string>("signature"),
    };
    return in.finish(std::move(seal));
}

Json encode(const BackupManifest& manifest) {
    Json chains = Json::array();
    for (const HeadLine& line : manifest.chains) {
        chains.push(Json::object(
            {{"book", line.book},
             {"tenant_id", line.tenant_id.text()},
             {"seq", line.head.seq},
             {"hash", line.head.hash}}));
    }
    Json files = Json::array();
    for (const BackupFile& file : manifest.files) {
        files.push(encode_file(file));
    }
    return Json::object({
        {"interlock_backup", kBackupVersion},
        {"created_at", to_text(manifest.created_at)},
        {"program", manifest.program},
        {"public_key", manifest.public_key},
        {"chains", std::move(chains)},
        {"files", std::move(files)},
    });
}

Result<std::string> digest_of(const BackupManifest& manifest) {
    TRY_ASSIGN(const std::string text, canonical_json(encode(manifest)));
    return sha256_hex(text);
}

std::string backup_text(std::string_view manifest_sha256) {
    return "interlock.backup.v1\n" + std::string(manifest_sha256) + "\n";
}

Json encode(const SealedManifest& sealed) {
    Json json = encode(sealed.manifest);
    json.set("seal", encode(sealed.seal));
    return json;
}

Result<SealedManifest> decode_sealed_manifest(const Json& json) {
    FieldReader in(json);
    SealedManifest sealed{.manifest = read_manifest(in), .seal = {}};
    if (const Json* seal = in.required_object("seal")) {
        TRY_ASSIGN(sealed.seal, decode_backup_seal(*seal));
    }
    const auto& files = sealed.manifest.files;
    const auto out_of_order =
        std::ranges::adjacent_find(files, std::ranges::greater_equal(), &BackupFile::name);
    if (in.ok() && out_of_order != files.end()) {
        in.add_problem("files", "must be in order, each once");
    }
    in.reject_unknown();
    return in.finish(std::move(sealed));
}

bool is_backup_name(std::string_view name) {
    if (name.size() > kNameLengthMax) {
        return false;
    }
    if (std::ranges::find(kFileNames, name) != kFileNames.end()) {
        return true;
    }
    const auto parts = split(name, '/');
    return parts.size() >= 2 && parts.size() <= kNamePartsMax &&
           std::ranges::find(kFolderNames, parts.front()) != kFolderNames.end() &&
           std::ranges::all_of(parts, is_plain_part);
}

std::string why_not_sealed(const SealedManifest& sealed, KeyLineage keys) {
    if (sealed.manifest.public_key != keys.first_key()) {
        return "The manifest names another first key than ledger.pub.";
    }
    const BackupSeal& seal = sealed.seal;
    // A crash while the key moves on leaves the one before the last in its place, no older one.
    if (seal.epoch + 1 < keys.last_epoch()) {
        return "The manifest is sealed by a key that was given up before the cut.";
    }
    for (const KeyStep& step : seal.keys) {
        if (!keys.add(step)) {
            return "The key that sealed the manifest does not follow from those of the chain.";
        }
    }
    if (!keys.holds(seal.epoch, seal.public_key)) {
        return "The manifest is sealed by a key that the chain does not know.";
    }
    const auto digest = digest_of(sealed.manifest);
    const auto key = from_hex(seal.public_key);
    const auto signature = from_hex(seal.signature);
    if (!digest || !key || !signature || !ed25519_verify(*key, backup_text(*digest), *signature)) {
        return "The manifest was changed after it was sealed.";
    }
    return {};
}

}  // namespace interlock
