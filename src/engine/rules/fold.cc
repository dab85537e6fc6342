#include "engine/rules/fold.h"

#include <algorithm>
#include <array>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::size_t kVaryingMax = 16;
constexpr std::size_t kHexDigits = 64;

std::vector<OpenFold>::iterator find_subject(FoldRow& row, std::string_view subject) {
    return std::find_if(row.open.begin(), row.open.end(), [&](const OpenFold& fold) {
        return fold.subject == subject;
    });
}

Json encode_fold(const OpenFold& fold) {
    return Json::object({
        {"subject", fold.subject},
        {"kind", fold.kind},
        {"what", fold.what},
        {"event", fold.event},
        {"repeats", fold.of_ref},
        {"varying", json_list(fold.varying)},
        {"count", fold.count},
        {"first", to_text(fold.first)},
        {"last", to_text(fold.last)},
        {"digest", fold.digest},
        {"digest_before", fold.digest_before},
        {"last_facts", fold.last_facts},
    });
}

bool is_ours(const std::string& decision_id) {
    return decision_id.starts_with("sys_") || decision_id.starts_with("auto.");
}

bool is_hash(std::string_view text) {
    return text.size() == kHexDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<OpenFold> decode_fold(const Json& detail) {
    FieldReader in(detail);
    OpenFold fold;
    fold.subject = in.required<std::string>("subject");
    fold.kind = in.required<std::string>("kind");
    fold.what = in.required<std::string>("what");
    fold.event = in.required<std::string>("event");
    fold.of_ref = in.required<std::string>("repeats");
    for (const Json& name : in.required_array("varying", kVaryingMax)) {
        if (name.is_string()) {
            fold.varying.push_back(name.as_string());
        } else {
            in.add_problem("varying", "must hold names");
        }
    }
    fold.count = in.required<std::int64_t>("count");
    fold.first = in.required<Timestamp>("first");
    fold.last = in.required<Timestamp>("last");
    fold.digest = in.required<std::string>("digest");
    fold.digest_before = in.required<std::string>("digest_before");
    fold.last_facts = in.required<std::string>("last_facts");
    return in.finish(std::move(fold));
}

Json encode(const FoldRow& row) {
    Json open = Json::array();
    for (const OpenFold& fold : row.open) {
        Json json = encode_fold(fold);
        json.set("opened_at", to_text(fold.opened_at));
        open.push(std::move(json));
    }
    return Json::object({{"open", std::move(open)}});
}

Result<FoldRow> decode_fold_row(const Json& json) {
    FieldReader in(json);
    FoldRow row;
    for (const Json& item : in.required_array("open", kOpenFoldsMax)) {
        TRY_ASSIGN(OpenFold fold, decode_fold(item));
        FieldReader more(item);
        fold.opened_at = more.required<Timestamp>("opened_at");
        TRY_ASSIGN(fold, more.finish(std::move(fold)));
        row.open.push_back(std::move(fold));
    }
    return in.finish(std::move(row));
}

std::size_t fold_slot(std::string_view subject) {
    return static_cast<unsigned char>(sha256(subject).front()) % kFoldRowsMax;
}

bool may_fold(const AuditDraft& draft) {
    const bool did_nothing =
        draft.status == AuditStatus::failed || draft.status == AuditStatus::skipped;
    return did_nothing && draft.severity == AuditSeverity::info;
}

Result<std::string> fold_kind(const AuditDraft& draft, const std::vector<std::string>& varying) {
    Json equal = Json::object();
    for (const auto& [key, value] : draft.detail.members()) {
        if (std::find(varying.begin(), varying.end(), key) == varying.end()) {
            equal.set(key, value);
        }
    }
    const std::string& decision_id = draft.decision_id.text();
    TRY_ASSIGN(
        const std::string text,
        canonical_json(Json::object({
            {"event", draft.event},
            {"step", to_word(draft.step)},
            {"status", to_word(draft.status)},
            {"actor", to_word(draft.actor)},
            {"principal", draft.principal},
            {"reason", draft.reason},
            {"decision_id", is_ours(decision_id) ? std::string() : decision_id},
            {"detail", std::move(equal)},
        })));
    return sha256_hex(text);
}

std::string fold_link(std::string_view digest, Timestamp at, std::string_view facts_hash) {
    return sha256_hex(std::string(digest) + to_text(at) + std::string(facts_hash));
}

Result<Occurrence> occurrence_of(
    const AuditDraft& draft, const Repeat& repeat, std::string_view request_hash) {
    Occurrence occurrence{
        .subject = repeat.subject, .kind = {}, .facts_hash = {}, .at = draft.timestamp};
    if (may_fold(draft)) {
        TRY_ASSIGN(occurrence.kind, fold_kind(draft, repeat.varying));
    }
    Json varying = Json::object();
    for (const std::string& key : repeat.varying) {
        if (const Json* value = draft.detail.find(key)) {
            varying.set(key, *value);
        }
    }
    TRY_ASSIGN(
        const std::string facts,
        canonical_json(Json::object({
            {"tick_id", draft.tick_id.text()},
            {"decision_id", draft.decision_id.text()},
            {"request_hash", request_hash},
            {"detail", std::move(varying)},
        })));
    occurrence.facts_hash = sha256_hex(facts);
    return occurrence;
}

FoldStep step_fold(FoldRow& row, const Occurrence& occurrence) {
    const auto found = find_subject(row, occurrence.subject);
    if (found == row.open.end()) {
        return {};
    }
    const bool is_equal = !occurrence.kind.empty() && found->kind == occurrence.kind;
    // Also when the clock was set back: a fold does not wait for it to come forward again.
    const bool is_young = occurrence.at - found->opened_at < kFoldLife &&
                          found->opened_at - occurrence.at < kFoldLife;
    if (!is_equal || !is_young) {
        FoldStep step{.counted_as = std::nullopt, .closed = std::move(*found)};
        row.open.erase(found);
        return step;
    }
    OpenFold& fold = *found;
    // Times never run backwards inside a fold, whatever the clock does.
    const Timestamp at = std::max(occurrence.at, fold.count == 0 ? fold.opened_at : fold.last);
    fold.digest_before = fold.digest;
    fold.digest = fold_link(fold.digest, at, occurrence.facts_hash);
    fold.last_facts = occurrence.facts_hash;
    fold.first = fold.count == 0 ? at : fold.first;
    fold.last = at;
    ++fold.count;
    return {.counted_as = fold.of_ref, .closed = std::nullopt};
}

std::optional<OpenFold> open_fold(
    FoldRow& row, const Occurrence& occurrence, const Repeat& repeat, const Repeated& record) {
    std::optional<OpenFold> out;
    if (row.open.size() >= kOpenFoldsMax) {
        const auto oldest = std::min_element(
            row.open.begin(), row.open.end(), [](const OpenFold& a, const OpenFold& b) {
                return std::max(a.opened_at, a.last) < std::max(b.opened_at, b.last);
            });
        out = std::move(*oldest);
        row.open.erase(oldest);
    }
    OpenFold fold;
    fold.subject = occurrence.subject;
    fold.kind = occurrence.kind;
    fold.what = std::string(repeat.what);
    fold.event = record.event;
    fold.of_ref = record.ref;
    fold.varying = repeat.varying;
    fold.opened_at = occurrence.at;
    fold.digest = record.hash;
    row.open.push_back(std::move(fold));
    return out;
}

std::string_view to_word(FoldEnd end) {
    constexpr std::array<std::string_view, 4> kWords{
        "kind_changed", "hour_over", "room_needed", "shutdown"};
    return kWords[static_cast<std::size_t>(end)];
}

std::vector<OpenFold> take_folds(FoldRow& row, std::optional<Timestamp> now) {
    std::vector<OpenFold> taken;
    std::erase_if(row.open, [&](OpenFold& fold) {
        const bool is_over = !now || *now - fold.opened_at >= kFoldLife;
        if (is_over) {
            taken.push_back(std::move(fold));
        }
        return is_over;
    });
    return taken;
}

std::optional<Timestamp> folds_due(const FoldRow& row) {
    std::optional<Timestamp> due;
    for (const OpenFold& fold : row.open) {
        const Timestamp end = fold.opened_at + kFoldLife;
        due = due ? std::min(*due, end) : end;
    }
    return due;
}

std::optional<AuditDraft> fold_draft(const TenantId& tenant_id, const OpenFold& fold, FoldEnd end) {
    if (fold.count == 0) {
        return std::nullopt;
    }
    AuditDraft draft;
    draft.tenant_id = tenant_id;
    draft.event = std::string(kFoldEvent);
    draft.step = AuditStep::record;
    draft.actor = AuditActor::python;
    draft.principal = "internal:fold";
    draft.status = AuditStatus::skipped;
    draft.reason = describe_fold(fold);
    draft.detail = encode_fold(fold);
    draft.detail.set("closed_by", to_word(end));
    return draft;
}

std::string describe_fold(const OpenFold& fold) {
    return std::to_string(fold.count) + " equal " + fold.what + (fold.count == 1 ? "" : "s") +
           " from " + to_text(fold.first) + " to " + to_text(fold.last);
}

std::string fold_problem(const AuditRecord& folded, const AuditRecord* repeated) {
    const auto fold = decode_fold(folded.draft.detail);
    if (!fold) {
        return "its detail is none of a fold: " + fold.error().message;
    }
    if (fold->count < 1 || fold->last < fold->first) {
        return "its count or its times cannot be";
    }
    if (!is_hash(fold->digest) || !is_hash(fold->digest_before) || !is_hash(fold->last_facts)) {
        return "its digest is no SHA-256";
    }
    if (repeated == nullptr || audit_ref(*repeated) != fold->of_ref) {
        return "the record " + fold->of_ref + " that it repeats is not there";
    }
    if (repeated->seq >= folded.seq || fold->first < repeated->draft.timestamp) {
        return "it stands before the record that it repeats";
    }
    const auto kind = fold_kind(repeated->draft, fold->varying);
    if (!kind || *kind != fold->kind || repeated->draft.event != fold->event) {
        return "the record " + fold->of_ref + " is of another kind";
    }
    const bool is_first_link = fold->count == 1;
    if (is_first_link != (fold->digest_before == repeated->hash)) {
        return "its digest does not begin with the record that it repeats";
    }
    if (fold_link(fold->digest_before, fold->last, fold->last_facts) != fold->digest) {
        return "its digest is not made of the one before and the last facts";
    }
    return {};
}

}  // namespace interlock
