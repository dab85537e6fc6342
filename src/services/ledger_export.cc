#include "services/ledger_export.h"

#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/canonical_json.h"
#include "base/errors.h"
#include "base/field_reader.h"

namespace interlock {
namespace {

constexpr std::int64_t kExportPage = 1000;
constexpr std::size_t kPublicKeyBytes = 32;
constexpr std::size_t kReadBytes = std::size_t{64} * 1024;

struct ExportHeader {
    TenantId tenant_id;
    std::string public_key;  // Raw; the first one.
    Timestamp created_at;
    KeyLineage keys;
};

Json encode(const ExportHeader& header) {
    return Json::object({
        {"interlock_export", kExportVersion},
        {"tenant_id", header.tenant_id.text()},
        {"from_seq", 1},
        {"public_key", to_hex(header.public_key)},
        {"keys", encode_steps(header.keys.steps())},
        {"created_at", to_text(header.created_at)},
    });
}

Result<ExportHeader> decode_header(std::string_view line) {
    TRY_ASSIGN(const Json json, parse_json(line));
    FieldReader in(json);
    in.required_integer("interlock_export", 1, kExportVersion);
    in.required_integer("from_seq", 1, 1);
    const std::string public_key = from_hex(in.required<std::string>("public_key")).value_or("");
    ExportHeader header{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .public_key = public_key,
        .created_at = in.required<Timestamp>("created_at"),
        .keys = KeyLineage(public_key),
    };
    if (in.ok() && header.public_key.size() != kPublicKeyBytes) {
        in.add_problem("public_key", "must be 64 hex digits");
    }
    if (json.find("keys") != nullptr) {
        auto keys = decode_steps(public_key, in.required<Json>("keys"));
        if (keys) {
            header.keys = *std::move(keys);
        } else {
            in.add_problem("keys", "do not follow from the first key");
        }
    }
    in.reject_unknown();
    return in.finish(std::move(header));
}

enum class LineEnd { newline, end_of_file, too_long };

// Reads one line without its newline, and hardly more of it than the bound.
LineEnd read_line(std::istream& in, std::string& line) {
    line.clear();
    std::array<char, kReadBytes> piece;
    while (line.size() <= kExportLineBytesMax) {
        in.getline(piece.data(), piece.size());
        const auto count = static_cast<std::size_t>(in.gcount());
        if (in.bad() || in.eof()) {
            line.append(piece.data(), count);
            return LineEnd::end_of_file;
        }
        if (!in.fail()) {
            line.append(piece.data(), count - 1);  // The newline was counted.
            return LineEnd::newline;
        }
        line.append(piece.data(), count);
        in.clear();  // Only the piece was full.
    }
    return LineEnd::too_long;
}

class ExportWriter {
public:
    ExportWriter(const ExportSources& sources, TenantId tenant_id, std::ostream& out)
        : sources_(sources), tenant_id_(std::move(tenant_id)), out_(out) {}

    Result<ChainReport> write() {
        TRY_ASSIGN(keys_, lineage_of(sources_.store, sources_.signer));
        ChainVerifier::Trust trust{.keys = &*keys_};
        trust.artifact = [this](const std::string& ref) {
            return find_artifact(sources_.store, tenant_id_, ref);
        };
        verifier_.emplace(tenant_id_, std::move(trust));
        TRY_ASSIGN(const LedgerHead head, sources_.store.read_head(tenant_id_));
        if (head.seq == 0) {
            return fail(
                errors::not_found, "there is no chain of the tenant " + tenant_id_.text() + ".");
        }
        TRY_ASSIGN(points_, sources_.store.read_checkpoints(tenant_id_));
        write_line(encode(ExportHeader{
            tenant_id_, sources_.signer.first_public_key, sources_.created_at, *keys_}));
        TRY(write_anchor());
        TRY(write_records(head.seq));
        verifier_->expect_at_least({head.seq, head.hash}, "the stored head");
        expect_mirror();
        if (!fault()) {
            write_head();
        }
        out_.flush();
        if (!out_) {
            return fail(errors::io_failed, "the export could not be written");
        }
        ChainReport report;
        report.tenant_id = tenant_id_;
        report.records = verifier_->count();
        report.head = verifier_->head();
        report.checkpoints = checkpoints_ + verifier_->seals();
        report.breaks = verifier_->breaks();
        report.adopted = verifier_->adopted();
        report.fault = fault();
        report.complete = !report.fault;
        return report;
    }

private:
    const std::optional<ChainFault>& fault() const {
        return verifier_->fault() ? verifier_->fault() : bad_signature_;
    }

    Result<void> write_records(std::int64_t last) {
        std::int64_t after = 0;
        while (after < last && !fault()) {
            TRY_ASSIGN(const auto page, sources_.store.read_ledger(tenant_id_, after, kExportPage));
            for (const LedgerEntry& entry : page) {
                // What was committed since the head was read belongs to the next export.
                if (entry.seq > last || fault()) {
                    break;
                }
                write_record(entry);
            }
            if (page.empty()) {
                return {};
            }
            after = page.back().seq;
            if (sources_.on_progress) {
                sources_.on_progress(after);
            }
        }
        return {};
    }

    void write_record(const LedgerEntry& entry) {
        verifier_->add(entry.seq, entry.canonical_json, entry.hash);
        while (next_ < points_.size() && points_[next_].seq < entry.seq) {
            ++next_;
        }
        const bool has_point = next_ < points_.size() && points_[next_].seq == entry.seq;
        if (has_point) {
            check_point(points_[next_]);
        }
        if (sources_.mirror_head != nullptr && sources_.mirror_head->seq == entry.seq) {
            expect_mirror();
        }
        if (fault()) {
            return;
        }
        out_ << R"({"record":)" << entry.canonical_json << R"(,"hash":")" << entry.hash << "\"}\n";
        if (has_point && !is_seal(points_[next_])) {
            write_line(Json::object({{"checkpoint", interlock::encode(points_[next_])}}));
        }
    }

    bool is_seal(const Checkpoint& point) const { return verifier_->last_seal().seq == point.seq; }

    // Where the chain stands under the last root over all heads.
    Result<void> write_anchor() {
        TRY_ASSIGN(const auto anchor, find_anchor(sources_.store, *keys_, tenant_id_));
        if (anchor) {
            write_line(Json::object({{"anchor", *anchor}}));
        }
        return {};
    }

    void write_head() {
        Json head = interlock::encode(sign_head(
            [this](std::string_view text) { return ed25519_sign(sources_.signer.key, text); },
            tenant_id_,
            verifier_->head(),
            sources_.created_at));
        head.set("epoch", sources_.signer.epoch);
        head.set("public_key", to_hex(sources_.signer.key.public_key));
        write_line(Json::object({{"head", std::move(head)}}));
    }

    // The index of seals, and detached signatures by the first key in records of before.
    void check_point(const Checkpoint& point) {
        verifier_->expect_point(point.seq, point.hash);
        if (is_seal(point)) {
            return;
        }
        if (is_signed_by(point, sources_.signer.first_public_key)) {
            ++checkpoints_;
        } else {
            bad_signature_ = ChainFault{
                point.seq, "bad_checkpoint", "the signature of this checkpoint does not hold"};
        }
    }

    void expect_mirror() {
        if (sources_.mirror_head != nullptr) {
            verifier_->expect_at_least(
                {sources_.mirror_head->seq, sources_.mirror_head->hash}, "the head file");
        }
    }

    void write_line(const Json& json) { out_ << to_text(json) << '\n'; }

    const ExportSources& sources_;
    const TenantId tenant_id_;
    std::ostream& out_;
    std::optional<KeyLineage> keys_;
    std::optional<ChainVerifier> verifier_;
    std::vector<Checkpoint> points_;
    std::size_t next_ = 0;
    std::int64_t checkpoints_ = 0;
    std::optional<ChainFault> bad_signature_;
};

// Takes an export line by line. After the first fault further lines are ignored.
class ExportVerifier {
public:
    ExportVerifier(const ExportHeader& header, const ExportCheck& check)
        : check_(check),
          keys_(header.keys),
          verifier_(header.tenant_id, ChainVerifier::Trust{.keys = &keys_}) {
        report_.chain.tenant_id = header.tenant_id;
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
        const Json* seq = record.find("seq");
        const std::int64_t next = verifier_.head().seq + 1;
        verifier_.add(
            seq != nullptr && seq->is_number() ? seq->as_int64().value_or(next) : next,
            *canonical,
            hash);
        if (verifier_.head().seq == anchored_.seq) {
            verifier_.expect_at_least(anchored_, "the anchor");
        }
        if (check_.on_progress && next % kExportPage == 0) {
            check_.on_progress(next);
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
    ChainVerifier verifier_;
    ChainHead anchored_;
    ExportReport report_;
};

}  // namespace

Result<ChainReport> write_export(
    const ExportSources& sources, const TenantId& tenant_id, std::ostream& out) {
    return ExportWriter(sources, tenant_id, out).write();
}

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
    LineEnd end = read_line(in, line);
    const auto header = decode_header(line);
    if (end == LineEnd::too_long || !header) {
        return fail(
            errors::invalid_request,
            "this is no export of a ledger: its first line is not the header of one" +
                (header ? std::string() : " (" + header.error().message + ")"),
            "Give a file that `interlock audit export` wrote.");
    }
    ExportVerifier verifier(*header, check);
    while (end == LineEnd::newline) {
        end = read_line(in, line);
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
