#include "engine/rules/seal.h"

#include <charconv>

#include "base/bytes.h"
#include "base/canonical_json.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

Json encode_break(const ChainBreak& broken) {
    return Json::object({
        {"bad_seq", broken.bad_seq},
        {"reason", broken.reason},
        {"detail", broken.detail},
        {"good_seq", broken.good_seq},
        {"rows", json_list(broken.rows)},
    });
}

ChainBreak decode_break(FieldReader& outer, const Json& json) {
    FieldReader in(json);
    ChainBreak broken{
        .bad_seq = in.required<std::int64_t>("bad_seq"),
        .reason = in.required<std::string>("reason"),
        .detail = in.required<std::string>("detail"),
        .good_seq = in.required<std::int64_t>("good_seq"),
    };
    for (const Json& row : in.required_array("rows", kBreakRowsMax)) {
        broken.rows.push_back(row.is_string() ? row.as_string() : std::string());
    }
    in.reject_unknown();
    if (!in.ok()) {
        outer.add_problem("broken", "is not the description of a break");
    }
    return broken;
}

KeyStep decode_step(FieldReader& outer, const Json& json) {
    FieldReader in(json);
    KeyStep step{
        .epoch = in.required<std::int64_t>("epoch"),
        .public_key = in.required<std::string>("public_key"),
        .signature = in.required<std::string>("signature"),
    };
    in.reject_unknown();
    if (!in.ok()) {
        outer.add_problem("next_key", "is not a key with its voucher");
    }
    return step;
}

template <class Counted>
Counted decode_counted(FieldReader& outer, std::string_view name, const Json& json) {
    FieldReader in(json);
    Counted counted{
        .count = in.required<std::int64_t>("count"), .root = in.required<std::string>("root")};
    in.reject_unknown();
    if (!in.ok()) {
        outer.add_problem(name, "is not a count and a root");
    }
    return counted;
}

// What is signed: place and time of the record and everything its detail says but the signature.
Result<std::string> seal_text(const AuditRecord& record, const Seal& seal) {
    Seal unsigned_seal = seal;
    unsigned_seal.signature.clear();
    TRY_ASSIGN(const std::string detail, canonical_json(encode(unsigned_seal)));
    const AuditDraft& draft = record.draft;
    return "interlock.seal.v2\n" + draft.event + "\n" + draft.tenant_id.text() + "\n" +
           std::to_string(record.seq) + "\n" + record.prev_hash + "\n" + to_text(draft.timestamp) +
           "\n" + detail + "\n";
}

bool is_signature_of(
    std::string_view public_key_hex, std::string_view text, std::string_view signature_hex) {
    const auto key = from_hex(public_key_hex);
    const auto signature = from_hex(signature_hex);
    return key && signature && ed25519_verify(*key, text, *signature);
}

}  // namespace

Json encode(const Seal& seal) {
    Json json = Json::object({
        {"book", seal.book},
        {"epoch", seal.epoch},
        {"public_key", seal.public_key},
        {"previous_seq", seal.previous_seq},
        {"previous_hash", seal.previous_hash},
        {"rows", Json::object({{"count", seal.rows.count}, {"root", seal.rows.root}})},
    });
    if (seal.heads) {
        json.set("heads", Json::object({{"count", seal.heads->count}, {"root", seal.heads->root}}));
    }
    if (seal.next_key) {
        json.set(
            "next_key",
            Json::object({
                {"epoch", seal.next_key->epoch},
                {"public_key", seal.next_key->public_key},
                {"signature", seal.next_key->signature},
            }));
    }
    if (seal.broken) {
        json.set("broken", encode_break(*seal.broken));
    }
    if (seal.adopted) {
        json.set("adopted", *seal.adopted);
    }
    if (!seal.signature.empty()) {
        json.set("signature", seal.signature);
    }
    return json;
}

Result<Seal> decode_seal(const Json& detail) {
    FieldReader in(detail);
    Seal seal;
    seal.book = in.required<std::string>("book");
    seal.epoch = in.required<std::int64_t>("epoch");
    seal.public_key = in.required<std::string>("public_key");
    seal.previous_seq = in.required<std::int64_t>("previous_seq");
    seal.previous_hash = in.required<std::string>("previous_hash");
    if (const Json* rows = in.required_object("rows")) {
        seal.rows = decode_counted<SealedRows>(in, "rows", *rows);
    }
    if (const Json* heads = in.optional_object("heads")) {
        seal.heads = decode_counted<SealedHeads>(in, "heads", *heads);
    }
    if (const Json* next = in.optional_object("next_key")) {
        seal.next_key = decode_step(in, *next);
    }
    if (const Json* broken = in.optional_object("broken")) {
        seal.broken = decode_break(in, *broken);
    }
    seal.adopted = in.optional<std::int64_t>("adopted");
    seal.signature = in.required<std::string>("signature");
    in.reject_unknown();
    return in.finish(std::move(seal));
}

bool is_seal(std::string_view event) {
    return event == kSealEvent || event == kBreakEvent;
}

std::int64_t next_epoch(const Seal& seal) {
    return seal.next_key ? seal.next_key->epoch : seal.epoch;
}

std::string key_step_text(std::int64_t epoch, std::string_view public_key_hex) {
    return "interlock.sealing-key.v1\n" + std::to_string(epoch) + "\n" +
           std::string(public_key_hex) + "\n";
}

Result<SealedRecord> sign_seal(
    ChainHead& head, AuditDraft draft, Seal seal, const SignText& sign, std::int64_t first_seq) {
    ChainHead place = head;
    if (first_seq > 0) {
        place.seq = first_seq - 1;
    }
    AuditRecord record;
    record.draft = draft;
    record.seq = place.seq + 1;
    record.prev_hash = place.hash;
    TRY_ASSIGN(const std::string text, seal_text(record, seal));
    seal.signature = to_hex(sign(text));
    draft.detail = encode(seal);
    TRY_ASSIGN(SealedRecord sealed, interlock::seal(place, std::move(draft)));
    head = place;
    return sealed;
}

bool is_signed(const AuditRecord& record, const Seal& seal) {
    const auto text = seal_text(record, seal);
    return text && is_signature_of(seal.public_key, *text, seal.signature);
}

KeyLineage::KeyLineage(std::string_view first_public_key) : keys_{to_hex(first_public_key)} {}

bool KeyLineage::add(const KeyStep& step) {
    const std::string text = key_step_text(step.epoch, step.public_key);
    if (step.epoch != last_epoch() + 1 || !is_signature_of(last_key(), text, step.signature)) {
        return false;
    }
    keys_.push_back(step.public_key);
    steps_.push_back(step);
    return true;
}

void KeyLineage::begin_anew(const KeyStep& step) {
    keys_.resize(static_cast<std::size_t>(step.epoch));
    keys_.push_back(step.public_key);
    steps_.push_back(step);
}

bool KeyLineage::holds(std::int64_t epoch, std::string_view public_key_hex) const {
    return epoch >= 0 && epoch <= last_epoch() &&
           keys_[static_cast<std::size_t>(epoch)] == public_key_hex;
}

std::optional<std::string> KeyLineage::key_of(std::int64_t epoch) const {
    return epoch >= 0 && epoch <= last_epoch()
               ? std::optional(keys_[static_cast<std::size_t>(epoch)])
               : std::nullopt;
}

std::string to_text(const HeadLine& line) {
    return line.book + "/" + line.tenant_id.text() + " " + std::to_string(line.head.seq) + " " +
           line.head.hash;
}

Result<std::vector<HeadLine>> parse_head_list(std::string_view text) {
    std::vector<HeadLine> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::size_t slash = line.find('/');
        const std::size_t first = line.find(' ');
        const std::size_t second = line.rfind(' ');
        std::int64_t seq = 0;
        const bool has_parts = end != std::string_view::npos && slash < first &&
                               first != std::string_view::npos && first < second;
        const bool is_line =
            has_parts && std::from_chars(line.data() + first + 1, line.data() + second, seq).ptr ==
                             line.data() + second;
        if (!is_line) {
            return fail(errors::corrupt_data, "the list of heads has a line that names none");
        }
        lines.push_back(
            {std::string(line.substr(0, slash)),
             TenantId::trusted(std::string(line.substr(slash + 1, first - slash - 1))),
             {seq, std::string(line.substr(second + 1))}});
        text.remove_prefix(end + 1);
    }
    return lines;
}

}  // namespace interlock
