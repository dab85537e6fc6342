#include "engine/service/ledger_export.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/errors.h"
#include "engine/rules/segment.h"
#include "engine/service/export_header.h"

namespace interlock {
namespace {

constexpr std::int64_t kExportPage = 1000;

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
        TRY_ASSIGN(points_, sources_.store.read_checkpoints(tenant_id_));
        TRY_ASSIGN(const SealPoint start, start_point());
        verifier_.emplace(tenant_id_, std::move(trust), start);
        TRY_ASSIGN(const LedgerHead head, last_record());
        if (head.seq == 0) {
            return fail(
                errors::not_found, "there is no chain of the tenant " + tenant_id_.text() + ".");
        }
        write_line(encode(ExportHeader{
            tenant_id_,
            sources_.signer.first_public_key,
            sources_.created_at,
            *keys_,
            sources_.segment}));
        if (!sources_.segment) {
            TRY(write_anchor());
        }
        TRY(write_records(head.seq));
        verifier_->expect_at_least({head.seq, head.hash}, "the stored head");
        if (!sources_.segment) {
            expect_mirror();
            expect_proof(head);
        }
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
        report.first_seq = start.seq + 1;
        report.artifacts = std::ssize(written_);
        report.last_seal = verifier_->last_seal();
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

    // Where a segment begins: the seal itself is in the file and nothing before it.
    Result<SealPoint> start_point() {
        if (!sources_.segment || sources_.segment->from == 1) {
            return SealPoint{};
        }
        TRY_ASSIGN(const Checkpoint place, place_of(sources_.segment->from));
        TRY_ASSIGN(const auto found, find_seal(sources_.store, place, &*keys_));
        if (!found) {
            return fail(
                errors::corrupt_data,
                "no seal that holds stands at record " + std::to_string(place.seq) + " of " +
                    tenant_id_.text(),
                "Run `interlock audit verify`.");
        }
        return found->point;
    }

    Result<Checkpoint> place_of(std::int64_t seq) const {
        const auto place = std::ranges::lower_bound(points_, seq, {}, &Checkpoint::seq);
        if (place == points_.end() || place->seq != seq) {
            return fail(
                errors::not_found,
                tenant_id_.text() + " has no seal at record " + std::to_string(seq) + ".");
        }
        return *place;
    }

    Result<LedgerHead> last_record() {
        if (!sources_.segment) {
            return sources_.store.read_head(tenant_id_);
        }
        TRY_ASSIGN(const Checkpoint place, place_of(sources_.segment->to));
        return LedgerHead{place.seq, place.hash};
    }

    Result<void> write_records(std::int64_t last) {
        std::int64_t after = 0;
        if (verifier_->head().seq > 0) {
            after = verifier_->head().seq;
            TRY_ASSIGN(const auto first, sources_.store.read_ledger(tenant_id_, after - 1, 1));
            TRY(write_artifacts(first.front()));
            write_entry(first.front());
        }
        while (after < last && !fault()) {
            TRY_ASSIGN(const auto page, sources_.store.read_ledger(tenant_id_, after, kExportPage));
            for (const LedgerEntry& entry : page) {
                // What was committed since the head was read belongs to the next export.
                if (entry.seq > last || fault()) {
                    break;
                }
                TRY(write_record(entry));
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

    // In front of the record that is the first to refer to them.
    Result<void> write_artifacts(const LedgerEntry& entry) {
        if (!sources_.segment) {
            return {};
        }
        for (const std::string& hash : artifacts_of(entry.canonical_json)) {
            if (!written_.insert(hash).second) {
                continue;
            }
            TRY_ASSIGN(const auto bytes, sources_.store.read_artifact(tenant_id_, hash));
            if (!bytes || sha256_hex(*bytes) != hash) {
                bad_signature_ = ChainFault{
                    entry.seq,
                    bytes ? "changed_artifact" : "missing_artifact",
                    "sha256:" + hash + (bytes ? " has other bytes" : " is gone")};
                return {};
            }
            const bool is_text = is_valid_utf8(*bytes);
            Json json = Json::object({{"artifact", "sha256:" + hash}});
            json.set(is_text ? "text" : "base64", is_text ? *bytes : to_base64(*bytes));
            std::string line = to_text(json);
            if (line.size() >= kExportLineBytesMax) {
                return fail(errors::out_of_range, "The artifact " + hash + " is too large.");
            }
            out_ << line << '\n';
        }
        return {};
    }

    void write_entry(const LedgerEntry& entry) {
        out_ << R"({"record":)" << entry.canonical_json << R"(,"hash":")" << entry.hash << "\"}\n";
    }

    Result<void> write_record(const LedgerEntry& entry) {
        TRY(write_artifacts(entry));
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
            return {};
        }
        write_entry(entry);
        if (has_point && !is_seal(points_[next_])) {
            write_line(Json::object({{"checkpoint", interlock::encode(points_[next_])}}));
        }
        return {};
    }

    bool is_seal(const Checkpoint& point) const { return verifier_->last_seal().seq == point.seq; }

    // Where the chain stands under the last root over all heads.
    Result<void> write_anchor() {
        TRY_ASSIGN(const auto anchor, find_anchor(sources_.store, *keys_, tenant_id_));
        if (anchor) {
            TRY_ASSIGN(const Anchor place, read_anchor(*anchor, tenant_id_, *keys_));
            anchored_ = place.head;
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

    // Our signature must not make good what nobody vouches for. The key may have moved on since the
    // head was read; the one before it will do.
    void expect_proof(const LedgerHead& head) {
        const bool is_old = verifier_->last_seal().seq == 0 && keys_->last_epoch() == 0;
        if (fault() || is_old || head.seq == verifier_->last_seal().seq ||
            verifier_->head() == anchored_) {
            return;
        }
        const ChainTail tail{
            .line = {std::string(kLedgerBook), tenant_id_, verifier_->head()},
            .proof = head.proof,
            .turn = keys_->last_epoch() - 1};
        if (!is_proven(tail, *keys_)) {
            bad_signature_ = ChainFault{
                verifier_->last_seal().seq + 1,
                "unproven_tail",
                "nobody who holds the key vouches for the records from here on"};
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
    ChainHead anchored_;
    std::set<std::string> written_;            // Artifacts.
    std::optional<ChainFault> bad_signature_;  // Or another fault beside the verifier's.
};

}  // namespace

Result<ChainReport> write_export(
    const ExportSources& sources, const TenantId& tenant_id, std::ostream& out) {
    return ExportWriter(sources, tenant_id, out).write();
}

}  // namespace interlock
