// Checkpoints that stand beside a chain instead of in it: those of before seals were records, and
// the signed heads of exports (chain_check.h).
#include "base/bytes.h"
#include "base/crypto.h"
#include "codec/field_reader.h"
#include "engine/service/chain_check.h"

namespace interlock {

bool is_signed_by(const Checkpoint& checkpoint, std::string_view public_key) {
    const auto signature = from_hex(checkpoint.signature);
    const ChainHead head{checkpoint.seq, checkpoint.hash};
    return signature && ed25519_verify(
                            public_key,
                            checkpoint_text(checkpoint.tenant_id, head, to_text(checkpoint.at)),
                            *signature);
}

Json encode(const Checkpoint& checkpoint) {
    return Json::object({
        {"tenant_id", checkpoint.tenant_id.text()},
        {"seq", checkpoint.seq},
        {"hash", checkpoint.hash},
        {"at", to_text(checkpoint.at)},
        {"signature", checkpoint.signature},
    });
}

Result<Checkpoint> decode_checkpoint(const Json& json) {
    FieldReader in(json);
    Checkpoint checkpoint{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .seq = in.required<std::int64_t>("seq"),
        .hash = in.required<std::string>("hash"),
        .at = in.required<Timestamp>("at"),
        .signature = in.required<std::string>("signature"),
    };
    in.reject_unknown();
    return in.finish(std::move(checkpoint));
}

}  // namespace interlock
