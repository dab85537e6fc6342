#include "trader/service/decision_receipt.h"
#include "engine/service/archive_read.h"

#include <map>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/canonical_json.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "engine/rules/chain_verifier.h"
#include "loop/service/loop_store.h"
#include "trader/service/replay_service.h"

namespace interlock {
namespace {

constexpr std::string_view kKind = "interlock.receipt";
constexpr std::int64_t kPage = 1000;
constexpr std::string_view kRefPrefix = "sha256:";

// What is signed: a word of its own in front, so that no other signature of the key fits.
std::string signed_text(const std::string& canonical) {
    return "interlock.receipt.v1\n" + canonical;
}

struct Collected {
    std::vector<LedgerEntry> entries;
    ChainHead head;
};

Result<Collected> collect(
    LedgerStore& store, const TenantId& tenant_id, const DecisionId& decision_id) {
    Collected collected;
    TRY_ASSIGN(const auto start, readable_from(store, tenant_id));
    ChainVerifier verifier(tenant_id, ChainVerifier::Trust{}, start.value_or(SealPoint{}));
    while (true) {
        TRY_ASSIGN(auto page, store.read_ledger(tenant_id, verifier.head().seq, kPage));
        if (page.empty()) {
            break;
        }
        for (LedgerEntry& entry : page) {
            verifier.add(entry.seq, entry.canonical_json, entry.hash);
            if (verifier.fault()) {
                return fail(
                    errors::corrupt_data,
                    "The chain is broken at record " + std::to_string(verifier.fault()->seq) +
                        "; a receipt would vouch for it.");
            }
            if (entry.canonical_json.find(decision_id.text()) == std::string::npos) {
                continue;
            }
            TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
            TRY_ASSIGN(const AuditRecord record, decode_audit_record(json));
            if (record.draft.decision_id != decision_id) {
                continue;
            }
            if (collected.entries.size() >= kReceiptRecordsMax) {
                return fail(errors::out_of_range, "The decision has too many audit records.");
            }
            collected.entries.push_back(std::move(entry));
        }
    }
    collected.head = verifier.head();
    if (collected.entries.empty() && start) {
        TRY_ASSIGN(const ArchiveState archive, load_archive(store, tenant_id));
        return fail(
            errors::archived,
            "The records from " + std::to_string(start->seq) + " on know no decision " +
                decision_id.text() + ". What stood before them is archived, the newest of it in " +
                archive.segments.back().file + ".",
            "Put the segment files into archive/ of the data folder.");
    }
    return collected;
}

Result<Json> records_json(const std::vector<LedgerEntry>& entries, std::set<std::string>& refs) {
    Json records = Json::array();
    for (const LedgerEntry& entry : entries) {
        TRY_ASSIGN(Json json, parse_json(entry.canonical_json));
        TRY_ASSIGN(const AuditRecord record, decode_audit_record(json));
        refs.insert(record.draft.artifacts.begin(), record.draft.artifacts.end());
        records.push(
            Json::object({{"seq", entry.seq}, {"hash", entry.hash}, {"record", std::move(json)}}));
    }
    return records;
}

Result<Json> artifacts_json(
    LedgerStore& store, const TenantId& tenant_id, const std::set<std::string>& refs) {
    ReplayInputs inputs = stored_inputs(store, tenant_id);
    Json artifacts = Json::object();
    std::size_t bytes = 0;
    for (const std::string& ref : refs) {
        TRY_ASSIGN(const std::string text, inputs.text_of(ref));
        TRY_ASSIGN(Json json, inputs.json_of(ref));
        bytes += text.size();
        if (bytes > kReceiptBytesMax) {
            return fail(errors::out_of_range, "The inputs of the decision are too large.");
        }
        artifacts.set(ref, std::move(json));
    }
    return artifacts;
}

// The first seal that covers the decision's last record, or the signed checkpoint of before seals
// were records; null before there is one.
Result<Json> covering_checkpoint(
    LedgerStore& store, const TenantId& tenant_id, std::int64_t last_seq) {
    TRY_ASSIGN(const auto points, store.read_checkpoints(tenant_id));
    for (const Checkpoint& point : points) {
        if (point.seq < last_seq) {
            continue;
        }
        TRY_ASSIGN(const auto entries, store.read_ledger(tenant_id, point.seq - 1, 1));
        TRY_ASSIGN(const auto seal, find_seal(store, point, nullptr));
        if (!seal || entries.empty()) {
            return encode(point);
        }
        TRY_ASSIGN(Json record, parse_json(entries.front().canonical_json));
        return Json::object({{"record", std::move(record)}, {"hash", entries.front().hash}});
    }
    return Json();
}

}  // namespace

Result<std::string> write_receipt(
    const ReceiptSources& sources, const TenantId& tenant_id, const DecisionId& decision_id) {
    LedgerStore& store = sources.store;
    TRY_ASSIGN(const Collected collected, collect(store, tenant_id, decision_id));
    TRY_ASSIGN(const auto row, store.load_state(decision_key(tenant_id, decision_id)));
    if (collected.entries.empty() || !row) {
        return fail(
            errors::not_found,
            "The ledger of " + tenant_id.text() + " has no decision " + decision_id.text() + ".");
    }
    std::set<std::string> refs;
    TRY_ASSIGN(Json records, records_json(collected.entries, refs));
    TRY_ASSIGN(Json artifacts, artifacts_json(store, tenant_id, refs));
    TRY_ASSIGN(Json decision, parse_json(row->json));
    TRY_ASSIGN(
        Json checkpoint, covering_checkpoint(store, tenant_id, collected.entries.back().seq));
    TRY_ASSIGN(const KeyLineage keys, lineage_of(store, sources.signer));
    TRY_ASSIGN(auto anchor, find_anchor(store, keys, tenant_id));
    const SignText sign = [&](std::string_view text) {
        return ed25519_sign(sources.signer.key, text);
    };
    Json receipt = Json::object({
        {"kind", kKind},
        {"version", kReceiptVersion},
        {"created_at", to_text(sources.created_at)},
        {"tenant_id", tenant_id.text()},
        {"decision_id", decision_id.text()},
        {"decision", std::move(decision)},
        {"records", std::move(records)},
        {"artifacts", std::move(artifacts)},
        {"checkpoint", std::move(checkpoint)},
        {"head", encode(sign_head(sign, tenant_id, collected.head, sources.created_at))},
        {"anchor", anchor ? *std::move(anchor) : Json()},
        {"public_key", to_hex(sources.signer.first_public_key)},
        {"keys", encode_steps(keys.steps())},
        {"signed_by_epoch", sources.signer.epoch},
    });
    TRY_ASSIGN(const std::string canonical, canonical_json(receipt));
    receipt.set("signature", to_hex(sign(signed_text(canonical))));
    TRY_ASSIGN(std::string text, canonical_json(receipt));
    text += "\n";
    if (text.size() > kReceiptBytesMax) {
        return fail(errors::out_of_range, "The receipt would be too large.");
    }
    // What is handed out was checked the way its reader will check it.
    const ReceiptReport report = verify_receipt(text, sources.signer.first_public_key);
    if (!report.ok() || report.replay.outcome != ReplayOutcome::ok) {
        return fail(
            report.replay.outcome == ReplayOutcome::not_replayable ? errors::not_replayable
                                                                   : errors::replay_differs,
            "The decision cannot be vouched for: " +
                (report.ok() ? report.replay.detail : report.problem));
    }
    return text;
}

namespace {

class ReceiptCheck {
public:
    ReceiptCheck(ReceiptReport& report, const std::optional<std::string>& public_key)
        : report_(report), public_key_(public_key) {}

    // The Error's sentence is the problem.
    Result<void> run(std::string_view text) {
        if (text.size() > kReceiptBytesMax) {
            return no("The file is larger than any receipt.");
        }
        TRY_ASSIGN(Json receipt, parse_json(text));
        // Only the one text that is signed is a receipt: not even a blank may be added.
        TRY_ASSIGN(const std::string canonical, canonical_json(receipt));
        if (canonical + "\n" != text) {
            return no("The file is not in its canonical form.");
        }
        TRY(read_header(receipt));
        TRY(check_signature(receipt));
        TRY(read_artifacts(receipt));
        TRY(read_records(receipt));
        TRY(check_points(receipt));
        return replay(receipt);
    }

private:
    static std::unexpected<Error> no(std::string sentence) {
        return fail(errors::corrupt_data, std::move(sentence));
    }

    Result<void> read_header(const Json& receipt) {
        FieldReader in(receipt);
        const std::string kind = in.required<std::string>("kind");
        const auto version = in.required<std::int64_t>("version");
        report_.tenant_id = in.required<TenantId>("tenant_id");
        report_.decision_id = in.required<DecisionId>("decision_id");
        report_.created_at = in.required<Timestamp>("created_at");
        const std::string key_text = in.required<std::string>("public_key");
        signature_ = in.required<std::string>("signature");
        if (!in.ok() || kind != kKind || version < 1 || version > kReceiptVersion) {
            return no("The file is not a receipt of this version.");
        }
        auto key = from_hex(key_text);
        if (!key || to_hex(*key) != key_text) {
            return no("The public key in the file is malformed.");
        }
        report_.public_key = *std::move(key);
        signer_ = report_.public_key;
        keys_.emplace(report_.public_key);
        return version == 1 ? Result<void>() : read_signer(receipt);
    }

    // Later keys sign; each is vouched for by the one before, back to the first.
    Result<void> read_signer(const Json& receipt) {
        FieldReader in(receipt);
        auto keys = decode_steps(report_.public_key, in.required<Json>("keys"));
        const auto epoch = in.required<std::int64_t>("signed_by_epoch");
        if (!in.ok() || !keys || epoch != keys->last_epoch()) {
            return no("The keys in the file do not follow from the first one.");
        }
        signer_ = from_hex(keys->last_key()).value_or("");
        keys_ = std::move(keys);
        return {};
    }

    Result<void> check_signature(Json& receipt) {
        if (public_key_ && *public_key_ != report_.public_key) {
            return no("The receipt is signed with another key than the one given.");
        }
        auto& members = receipt.members();
        std::erase_if(members, [](const Json::Member& one) { return one.first == "signature"; });
        TRY_ASSIGN(const std::string canonical, canonical_json(receipt));
        const auto signature = from_hex(signature_);
        if (!signature || to_hex(*signature) != signature_ ||
            !ed25519_verify(signer_, signed_text(canonical), *signature)) {
            return no("The signature does not hold.");
        }
        report_.authorship_proven = public_key_.has_value();
        return {};
    }

    Result<void> read_artifacts(const Json& receipt) {
        const Json* artifacts = receipt.find("artifacts");
        if (artifacts == nullptr || !artifacts->is_object()) {
            return no("The receipt has no artifacts.");
        }
        for (const auto& [ref, json] : artifacts->members()) {
            TRY_ASSIGN(std::string text, canonical_json(json));
            if (ref != std::string(kRefPrefix) + sha256_hex(text)) {
                return no("The artifact " + ref + " does not have its hash.");
            }
            artifacts_[ref.substr(kRefPrefix.size())] = std::move(text);
        }
        report_.artifacts = std::ssize(artifacts_);
        return {};
    }

    Result<void> read_records(const Json& receipt) {
        FieldReader in(receipt);
        for (const Json& entry : in.required_array("records", kReceiptRecordsMax)) {
            FieldReader fields(entry);
            const auto seq = fields.required<std::int64_t>("seq");
            const std::string hash = fields.required<std::string>("hash");
            const Json* json = fields.required_object("record");
            if (!fields.ok() || json == nullptr) {
                return no("An audit record is malformed.");
            }
            TRY_ASSIGN(const std::string canonical, canonical_json(*json));
            TRY_ASSIGN(AuditRecord record, decode_audit_record(*json));
            record.hash = hash;
            TRY(check_link(record, seq, canonical));
            records_.push_back(std::move(record));
        }
        if (records_.empty()) {
            return no("The receipt has no audit records.");
        }
        report_.records = std::ssize(records_);
        return {};
    }

    Result<void> check_link(
        const AuditRecord& record, std::int64_t seq, const std::string& canonical) const {
        const std::string place = "The audit record " + std::to_string(seq);
        if (record.seq != seq || record.draft.tenant_id != report_.tenant_id ||
            record.draft.decision_id != report_.decision_id) {
            return no(place + " belongs elsewhere.");
        }
        if (link_hash(record.prev_hash, canonical) != record.hash) {
            return no(place + " does not have its hash.");
        }
        if (!records_.empty()) {
            const AuditRecord& before = records_.back();
            const bool follows = before.seq + 1 == seq && before.hash != record.prev_hash;
            if (seq <= before.seq || follows) {
                return no(place + " does not follow the one before it.");
            }
        }
        return {};
    }

    bool covers(std::int64_t seq, const std::string& hash) const {
        const AuditRecord& last = records_.back();
        return seq > last.seq || (seq == last.seq && hash == last.hash);
    }

    // Signed points of the chain behind the decision's last record.
    Result<void> check_points(const Json& receipt) const {
        const Json* head = receipt.find("head");
        const Json* checkpoint = receipt.find("checkpoint");
        const Json* anchor = receipt.find("anchor");
        if (head == nullptr || head->is_null() || checkpoint == nullptr) {
            return no("The receipt has no signed head.");
        }
        TRY(check_point("head", *head, signer_));
        if (anchor != nullptr && !anchor->is_null()) {
            TRY_ASSIGN(const Anchor place, read_anchor(*anchor, report_.tenant_id, *keys_));
            report_.anchor_hash = place.system_hash;
        }
        if (checkpoint->is_null()) {
            return {};
        }
        return checkpoint->find("record") != nullptr
                   ? check_seal(*checkpoint)
                   : check_point("checkpoint", *checkpoint, report_.public_key);
    }

    Result<void> check_point(
        std::string_view name, const Json& json, const std::string& public_key) const {
        TRY_ASSIGN(const Checkpoint point, decode_checkpoint(json));
        if (point.tenant_id != report_.tenant_id || !covers(point.seq, point.hash) ||
            !is_signed_by(point, public_key)) {
            return no("The signed " + std::string(name) + " does not hold.");
        }
        return {};
    }

    Result<void> check_seal(const Json& json) const {
        FieldReader in(json);
        const Json* text = in.required_object("record");
        const std::string hash = in.required<std::string>("hash");
        TRY(in.finish(true));
        TRY_ASSIGN(const std::string canonical, canonical_json(*text));
        TRY_ASSIGN(const AuditRecord record, decode_audit_record(*text));
        TRY_ASSIGN(const Seal seal, decode_seal(record.draft.detail));
        if (!is_seal(record.draft.event) || record.draft.tenant_id != report_.tenant_id ||
            link_hash(record.prev_hash, canonical) != hash || !covers(record.seq, hash) ||
            !is_signed(record, seal) || !keys_->holds(seal.epoch, seal.public_key)) {
            return no("The seal of the chain does not hold.");
        }
        return {};
    }

    Result<void> replay(const Json& receipt) {
        ReplayInputs inputs([this](const std::string& hash) -> Result<std::optional<std::string>> {
            const auto found = artifacts_.find(hash);
            return found == artifacts_.end() ? std::nullopt : std::optional(found->second);
        });
        DecisionReplay replay(report_.decision_id);
        for (const AuditRecord& record : records_) {
            TRY(replay.add(record, inputs));
        }
        if (!replay.has_plan()) {
            return no("The receipt has no plan.");
        }
        const Json* row = receipt.find("decision");
        replay.compare_stored(row);
        report_.replay = replay.verdict();
        // One of an older policy still holds: that it is what was decided is shown by everything
        // but deciding it again.
        if (report_.replay.outcome != ReplayOutcome::ok && !report_.replay.is_other_policy) {
            return no("The decision does not replay: " + report_.replay.detail);
        }
        TRY_ASSIGN(report_.decision, decode_decision(*row));
        return {};
    }

    ReceiptReport& report_;
    const std::optional<std::string>& public_key_;
    std::string signature_;
    std::string signer_;  // Raw public key.
    std::optional<KeyLineage> keys_;
    std::map<std::string, std::string> artifacts_;  // By hash.
    std::vector<AuditRecord> records_;
};

}  // namespace

ReceiptReport verify_receipt(std::string_view text, const std::optional<std::string>& public_key) {
    ReceiptReport report;
    if (const auto held = ReceiptCheck(report, public_key).run(text); !held) {
        report.problem = held.error().message;
    }
    return report;
}

Json encode(const ReceiptReport& report) {
    return Json::object({
        {"ok", report.ok()},
        {"problem", report.ok() ? Json() : Json(report.problem)},
        {"tenant_id", report.tenant_id.text()},
        {"decision_id", report.decision_id.text()},
        {"stage", report.decision ? Json(to_word(report.decision->stage)) : Json()},
        {"records", report.records},
        {"artifacts", report.artifacts},
        {"steps", report.replay.steps},
        {"replay", to_word(report.replay.outcome)},
        {"public_key", to_hex(report.public_key)},
        {"authorship_proven", report.authorship_proven},
    });
}

}  // namespace interlock
