// Verifies exports and archived segments line by line, with nothing but the file and a public key
// (ledger_export.h).
#include <map>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/canonical_json.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "engine/rules/segment.h"
#include "engine/service/export_header.h"
#include "engine/service/ledger_export.h"

namespace interlock {
namespace {

constexpr std::int64_t kProgressRecords = 1000;

// Takes an export line by line. After the first fault further lines are ignored.
class ExportVerifier {
public:
    ExportVerifier(const ExportHeader& header, const ExportCheck& check)
        : check_(check),
          keys_(check.keys != nullptr ? *check.keys : header.keys),
          segment_(header.segment),
          verifier_(header.tenant_id, trust()) {
        report_.chain.tenant_id = header.tenant_id;
        if (segment_) {
            report_.to_seq = segment_->to;
            report_.chain.first_seq = segment_->from;
        }
        report_.public_key = header.public_key;
        report_.created_at = header.created_at;
        if (check.public_key && *check.public_key != header.public_key) {
            set_fault("wrong_key", "the export names another public key than the one given");
        }
    }

    void add(std::string_view line) {
        if (report_.chain.complete) {
            set_fault("malformed_line", "something stands after the head line");
        }
        if (has_fault()) {
            return;
        }
        const auto json = parse_json(line);
        if (!json || !json->is_object()) {
            set_fault("malformed_line", json ? "the line is no JSON object" : json.error().message);
            return;
        }
        FieldReader in(*json);
        if (const Json* record = in.optional_object("record")) {
            add_record(*record, in.required<std::string>("hash"));
        } else if (const Json* checkpoint = in.optional_object("checkpoint")) {
            add_checkpoint(*checkpoint);
        } else if (const Json* anchor = in.optional_object("anchor")) {
            add_anchor(*anchor);
        } else if (const Json* head = in.optional_object("head")) {
            add_head(*head);
        } else if (segment_ && json->find("artifact") != nullptr) {
            add_artifact(in);
        } else {
            in.add_problem("record", "the line is no record, checkpoint, anchor or head");
        }
        in.reject_unknown();
        if (const auto read = in.finish(true); !read && !has_fault()) {
            set_fault("malformed_line", read.error().problems.front().problem);
        }
    }

    void cut_off(std::string detail) {
        if (!has_fault()) {
            set_fault("truncated_tail", std::move(detail));
        }
    }

    ExportReport finish() {
        report_.chain.records = verifier_.count();
        report_.chain.head = verifier_.head();
        verifier_.expect_at_least(anchored_, "the anchor");
        report_.chain.checkpoints += verifier_.seals();
        report_.chain.breaks = verifier_.breaks();
        report_.chain.adopted = verifier_.adopted();
        if (!report_.chain.fault) {
            report_.chain.fault = verifier_.fault();
        }
        if (segment_ && !has_fault() && report_.chain.complete &&
            (verifier_.head().seq != segment_->to || verifier_.last_seal().seq != segment_->to)) {
            set_fault("truncated_tail", "the segment does not end with the seal that it says");
        }
        report_.chain.last_seal = verifier_.last_seal();
        report_.chain.artifacts = std::ssize(artifacts_);
        if (has_fault()) {
            report_.chain.complete = false;
        } else if (!report_.chain.complete) {
            report_.incomplete_because = "the signed head, the last line of an export, is missing";
        }
        report_.authorship_proven = report_.ok() && check_.public_key.has_value();
        return std::move(report_);
    }

private:
    bool has_fault() const { return report_.chain.fault || verifier_.fault(); }

    void set_fault(std::string_view reason, std::string detail) {
        report_.chain.fault =
            ChainFault{verifier_.head().seq + 1, std::string(reason), std::move(detail)};
    }

    void add_record(const Json& record, const std::string& hash) {
        const auto canonical = canonical_json(record);
        if (!canonical) {
            set_fault("malformed_record", canonical.error().message);
            return;
        }
        if (segment_ && segment_->from > 1 && verifier_.head().seq == 0) {
            begin(record, *canonical, hash);
            return;
        }
        const Json* seq = record.find("seq");
        const std::int64_t next = verifier_.head().seq + 1;
        verifier_.add(
            seq != nullptr && seq->is_number() ? seq->as_int64().value_or(next) : next,
            *canonical,
            hash);
        if (verifier_.head().seq == anchored_.seq) {
            verifier_.expect_at_least(anchored_, "the anchor");
        }
        check_refs(*canonical);
        if (check_.on_progress && next % kProgressRecords == 0) {
            check_.on_progress(next);
        }
    }

    ChainVerifier::Trust trust() {
        ChainVerifier::Trust trust{.keys = &keys_};
        if (segment_) {
            trust.artifact = [this](const std::string& ref) -> std::optional<std::string> {
                const auto found = fresh_.find(ref);
                return found == fresh_.end() ? std::nullopt : std::optional(found->second);
            };
        }
        return trust;
    }

    // A later segment begins with the seal that the one before it ends with.
    void begin(const Json& json, const std::string& canonical, const std::string& hash) {
        const auto record = decode_audit_record(json);
        const auto seal = record ? decode_seal(record->draft.detail)
                                 : Result<Seal>(std::unexpected(record.error()));
        if (!seal || !is_seal(record->draft.event) || record->seq != segment_->from ||
            record->draft.tenant_id != report_.chain.tenant_id || seal->book != kLedgerBook ||
            link_hash(record->prev_hash, canonical) != hash || !is_signed(*record, *seal) ||
            !keys_.holds(seal->epoch, seal->public_key)) {
            report_.chain.fault = ChainFault{
                segment_->from, "bad_checkpoint", "the segment does not begin with a seal"};
            return;
        }
        if (seal->next_key && report_.chain.tenant_id == system_tenant()) {
            (void)keys_.add(*seal->next_key);  // Known already, as a rule.
        }
        verifier_ = ChainVerifier(
            report_.chain.tenant_id,
            trust(),
            SealPoint{segment_->from, hash, record->draft.timestamp, seal->rows});
        check_refs(canonical);
    }

    void add_artifact(FieldReader& in) {
        const std::string ref = in.required<std::string>("artifact");
        const auto text = in.optional<std::string>("text");
        auto bytes = text ? Result<std::string>(*text)
                          : from_base64(in.optional_or<std::string>("base64", ""));
        if (!bytes || ref != "sha256:" + sha256_hex(*bytes)) {
            set_fault("changed_artifact", "the bytes of " + ref + " are others");
            return;
        }
        artifacts_.insert(ref);
        fresh_.insert_or_assign(ref, *std::move(bytes));
    }

    // Every artifact of a segment's record stands in front of it, and no other.
    void check_refs(const std::string& canonical) {
        if (!segment_ || has_fault()) {
            return;
        }
        for (const std::string& hash : artifacts_of(canonical)) {
            const std::string ref = "sha256:" + hash;
            fresh_.erase(ref);
            if (!artifacts_.contains(ref)) {
                report_.chain.fault = ChainFault{
                    verifier_.head().seq, "missing_artifact", ref + " is not in the file"};
            }
        }
        if (!fresh_.empty()) {
            set_fault("malformed_line", fresh_.begin()->first + " belongs to no record");
        }
    }

    // A signed point must stand right behind the record it signs.
    std::optional<Checkpoint> read_point(
        const Json& json, std::string_view name, const std::string& public_key) {
        const auto point = decode_checkpoint(json);
        const std::int64_t seq = verifier_.head().seq;
        std::string problem;
        if (!point) {
            problem = point.error().message;
        } else if (point->tenant_id != report_.chain.tenant_id) {
            problem = "it belongs to the tenant " + point->tenant_id.text();
        } else if (to_text(encode(*point)) != to_text(json)) {
            problem = "it is not spelt as an export spells it";
        } else if (!is_signed_by(*point, public_key)) {
            problem = "its signature does not hold";
        } else if (point->seq != seq || point->hash != verifier_.head().hash) {
            problem = "it signs another record than the one before it";
        } else {
            return *point;
        }
        report_.chain.fault =
            ChainFault{seq, "bad_checkpoint", "the " + std::string(name) + ": " + problem};
        return std::nullopt;
    }

    void add_checkpoint(const Json& json) {
        if (read_point(json, "checkpoint", report_.public_key)) {
            ++report_.chain.checkpoints;
        }
    }

    // The anchor is for a witness; here it must only be of one piece with the chain.
    void add_anchor(const Json& json) {
        const auto anchor = read_anchor(json, report_.chain.tenant_id, keys_);
        if (!anchor) {
            set_fault("bad_anchor", anchor.error().message);
            return;
        }
        report_.anchor_hash = anchor->system_hash;
        report_.anchored_seq = anchor->head.seq;
        anchored_ = anchor->head;
    }

    void add_head(Json json) {
        std::string key = report_.public_key;
        // Signed by a later key, which the first line leads to.
        if (const Json* signer = json.find("public_key")) {
            const Json* epoch = json.find("epoch");
            if (epoch == nullptr || !signer->is_string() ||
                !keys_.holds(epoch->as_int64().value_or(-1), signer->as_string())) {
                set_fault(
                    "wrong_key",
                    "the head is signed by a key that the first line does not lead to");
                return;
            }
            key = from_hex(signer->as_string()).value_or("");
            std::erase_if(json.members(), [](const Json::Member& member) {
                return member.first == "public_key" || member.first == "epoch";
            });
        }
        const auto head = decode_checkpoint(json);
        if (head && head->seq > verifier_.head().seq && is_signed_by(*head, key)) {
            verifier_.expect_at_least({head->seq, head->hash}, "the signed head");
            return;
        }
        report_.chain.complete = read_point(json, "head", key).has_value();
    }

    const ExportCheck& check_;
    KeyLineage keys_;
    const std::optional<SegmentRange> segment_;
    std::map<std::string, std::string> fresh_;  // Artifacts since the last record.
    std::set<std::string> artifacts_;
    ChainVerifier verifier_;
    ChainHead anchored_;
    ExportReport report_;
};

}  // namespace

Json encode(const ExportReport& report) {
    Json json = encode(report.chain);
    json.set("public_key", to_hex(report.public_key));
    json.set("authorship_proven", report.authorship_proven);
    json.set("created_at", to_text(report.created_at));
    if (!report.incomplete_because.empty()) {
        json.set("problem", "incomplete");
        json.set("detail", report.incomplete_because);
    }
    return json;
}

Result<ExportReport> verify_export(std::istream& in, const ExportCheck& check) {
    std::string line;
    LineEnd end = read_export_line(in, line);
    const auto header = decode_export_header(line, check.keys != nullptr);
    if (end == LineEnd::too_long || !header) {
        return fail(
            errors::invalid_request,
            "this is no export of a ledger: its first line is not the header of one" +
                (header ? std::string() : " (" + header.error().message + ")"),
            "Give a file that `interlock audit export` wrote.");
    }
    ExportVerifier verifier(*header, check);
    while (end == LineEnd::newline) {
        end = read_export_line(in, line);
        if (end == LineEnd::newline) {
            verifier.add(line);
        } else if (end == LineEnd::too_long) {
            verifier.cut_off("a line is longer than any line of an export");
        } else if (!line.empty()) {
            verifier.cut_off("the file ends inside a line");
        }
    }
    if (in.bad()) {
        return fail(errors::io_failed, "the export could not be read to its end");
    }
    return verifier.finish();
}

}  // namespace interlock
