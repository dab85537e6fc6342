#include "engine/rules/witnessed_head.h"

#include "base/canonical_json.h"
#include "base/errors.h"
#include "codec/field_reader.h"

namespace interlock {

Result<WitnessedHead> read_head_line(std::string_view line) {
    if (line.size() > kHeadLineBytesMax) {
        return fail(errors::invalid_request, "the line is longer than any seal");
    }
    TRY_ASSIGN(const Json json, parse_json(line));
    FieldReader in(json);
    const Json* found = in.required_object("record");
    WitnessedHead witnessed;
    witnessed.head.hash = in.required<std::string>("hash");
    in.reject_unknown();
    TRY(in.finish(true));
    TRY_ASSIGN(const std::string canonical, canonical_json(*found));
    TRY_ASSIGN(const AuditRecord record, decode_audit_record(*found));
    const auto seal = decode_seal(record.draft.detail);
    if (!seal || !is_seal(record.draft.event) || record.draft.tenant_id != system_tenant() ||
        seal->book != kLedgerBook || record.seq < 1) {
        return fail(errors::invalid_request, "the record is no seal of _system");
    }
    if (link_hash(record.prev_hash, canonical) != witnessed.head.hash) {
        return fail(errors::invalid_request, "the hash is not the record's");
    }
    if (!is_signed(record, *seal)) {
        return fail(errors::invalid_request, "the signature of the seal does not hold");
    }
    witnessed.head.seq = record.seq;
    witnessed.previous = {seal->previous_seq, seal->previous_hash};
    witnessed.at = record.draft.timestamp;
    witnessed.epoch = seal->epoch;
    witnessed.public_key = seal->public_key;
    witnessed.line = std::string(line);
    return witnessed;
}

HeadOrder order_of(const WitnessedHead& newest, const WitnessedHead& next) {
    if (next.head == newest.head) {
        return HeadOrder::again;
    }
    if (next.previous == newest.head) {
        return HeadOrder::follows;
    }
    return next.previous.seq > newest.head.seq ? HeadOrder::behind_gap : HeadOrder::conflicts;
}

std::string short_text(const ChainHead& head) {
    return std::to_string(head.seq) + ":" + head.hash.substr(0, 16);
}

}  // namespace interlock
