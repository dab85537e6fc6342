#include "host/service/backup_service.h"

#include "base/bytes.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kDigestDigits = 64;

bool is_digest(std::string_view text) {
    return text.size() == kDigestDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Json encode(const SealBackup& request) {
    return Json::object({
        {"manifest_sha256", request.manifest_sha256},
        {"epoch", request.epoch},
        {"files", request.files},
        {"bytes", request.bytes},
    });
}

Result<SealBackup> decode_seal_backup(const Json& json) {
    FieldReader in(json);
    SealBackup request{
        .manifest_sha256 = in.required<std::string>("manifest_sha256"),
        .epoch = in.required_integer("epoch", 0, INT64_MAX),
        .files = in.required_integer("files", 1, static_cast<std::int64_t>(kBackupFilesMax)),
        .bytes = in.required_integer("bytes", 0, INT64_MAX),
    };
    if (in.ok() && !is_digest(request.manifest_sha256)) {
        in.add_problem("manifest_sha256", "must be 64 hex digits");
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

void BackupService::seal(Principal principal, SealBackup request, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = system_tenant();
    turn.principal = std::move(principal);
    turn.function = "seal_backup";
    turn.decide = [this, request = std::move(request)](Turn& in) -> Result<TurnReply> {
        // On the engine's thread, where keys move on: key and lineage belong together.
        const SealKeys::Key key = parts_.keys.current();
        BackupSeal seal{.epoch = key.epoch, .public_key = key.public_key};
        for (const KeyStep& step : parts_.ledger.lineage().steps()) {
            if (step.epoch > request.epoch) {
                seal.keys.push_back(step);
            }
        }
        seal.signature = to_hex(parts_.keys.sign(backup_text(request.manifest_sha256)));
        AuditDraft draft = in.draft("BACKUP_TAKEN");
        draft.detail = encode(request);
        TRY_ASSIGN(const std::string ref, in.audit(std::move(draft)));
        Json answer = encode(seal);
        answer.set("audit_ref", ref);
        return Answer{200, to_text(answer)};
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

}  // namespace interlock
