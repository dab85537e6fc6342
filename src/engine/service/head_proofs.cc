#include "engine/service/head_proofs.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/canonical_json.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "engine/rules/merkle.h"
#include "engine/service/chain_check.h"

namespace interlock {
namespace {

constexpr std::int64_t kAnchorLeavesMax = 100'000'000;
constexpr std::size_t kAnchorPathMax = 64;

}  // namespace

Result<KeyLineage> lineage_of(LedgerStore& store, const HeadSigner& signer) {
    KeyLineage keys(signer.first_public_key);
    TRY(load_lineage(store, keys));
    if (!keys.holds(signer.epoch, to_hex(signer.key.public_key))) {
        return fail(
            errors::crypto_failed,
            "no seal says that the folder's key " + std::to_string(signer.epoch) +
                " is the one to "
                "sign with",
            "Run `interlock audit verify`.");
    }
    return keys;
}

Checkpoint sign_head(
    const SignText& sign, const TenantId& tenant_id, const ChainHead& head, Timestamp at) {
    return {
        .tenant_id = tenant_id,
        .seq = head.seq,
        .hash = head.hash,
        .at = at,
        .signature = to_hex(sign(checkpoint_text(tenant_id, head, to_text(at)))),
    };
}

Result<std::optional<Json>> find_anchor(
    LedgerStore& store, const KeyLineage& keys, const TenantId& tenant_id) {
    TRY_ASSIGN(const auto points, store.read_checkpoints(system_tenant()));
    if (points.empty()) {
        return std::nullopt;
    }
    TRY_ASSIGN(const auto found, find_seal(store, points.back(), &keys));
    const auto text =
        found && found->seal.heads && !found->record.draft.artifacts.empty()
            ? find_artifact(store, system_tenant(), found->record.draft.artifacts.front())
            : std::nullopt;
    if (!text) {
        return std::nullopt;
    }
    TRY_ASSIGN(const std::vector<HeadLine> lines, parse_head_list(*text));
    const auto line = std::ranges::find_if(lines, [&](const HeadLine& one) {
        return one.book == kLedgerBook && one.tenant_id == tenant_id;
    });
    if (line == lines.end()) {
        return std::nullopt;
    }
    std::vector<std::string> leaves;
    for (const HeadLine& one : lines) {
        leaves.push_back(to_text(one));
    }
    const auto index = static_cast<std::size_t>(line - lines.begin());
    TRY_ASSIGN(const auto entries, store.read_ledger(system_tenant(), points.back().seq - 1, 1));
    TRY_ASSIGN(Json record, parse_json(entries.front().canonical_json));
    return Json::object({
        {"seq", line->head.seq},
        {"hash", line->head.hash},
        {"index", static_cast<std::int64_t>(index)},
        {"count", static_cast<std::int64_t>(leaves.size())},
        {"path", json_list(merkle_path(leaves, index))},
        {"system_record", std::move(record)},
        {"system_hash", entries.front().hash},
    });
}

Result<Anchor> read_anchor(const Json& json, const TenantId& tenant_id, const KeyLineage& keys) {
    FieldReader in(json);
    Anchor anchor;
    anchor.head.seq = in.required<std::int64_t>("seq");
    anchor.head.hash = in.required<std::string>("hash");
    MerklePlace place;
    place.index = static_cast<std::size_t>(in.required_integer("index", 0, kAnchorLeavesMax));
    place.count = static_cast<std::size_t>(in.required_integer("count", 1, kAnchorLeavesMax));
    for (const Json& step : in.required_array("path", kAnchorPathMax)) {
        place.path.push_back(step.is_string() ? step.as_string() : std::string());
    }
    const Json* json_record = in.required_object("system_record");
    anchor.system_hash = in.required<std::string>("system_hash");
    in.reject_unknown();
    TRY(in.finish(true));
    TRY_ASSIGN(const std::string canonical, canonical_json(*json_record));
    TRY_ASSIGN(const AuditRecord record, decode_audit_record(*json_record));
    TRY_ASSIGN(const Seal seal, decode_seal(record.draft.detail));
    const HeadLine line{std::string(kLedgerBook), tenant_id, anchor.head};
    const bool holds = is_seal(record.draft.event) && record.draft.tenant_id == system_tenant() &&
                       link_hash(record.prev_hash, canonical) == anchor.system_hash &&
                       is_signed(record, seal) && keys.holds(seal.epoch, seal.public_key) &&
                       seal.heads && static_cast<std::size_t>(seal.heads->count) == place.count &&
                       merkle_root_from(to_text(line), place) == seal.heads->root;
    if (!holds) {
        return fail(errors::corrupt_data, "the place under the root over all heads does not hold");
    }
    return anchor;
}

Json encode_steps(const std::vector<KeyStep>& steps) {
    Json json = Json::array();
    for (const KeyStep& step : steps) {
        json.push(Json::array({step.epoch, step.public_key, step.signature}));
    }
    return json;
}

std::optional<KeyLineage> decode_steps(std::string_view first_public_key, const Json& json) {
    KeyLineage keys(first_public_key);
    if (!json.is_array()) {
        return std::nullopt;
    }
    for (const Json& item : json.items()) {
        const bool is_step = item.is_array() && item.items().size() == 3 &&
                             item.items()[0].is_number() && item.items()[1].is_string() &&
                             item.items()[2].is_string();
        if (!is_step) {
            return std::nullopt;
        }
        const KeyStep step{
            item.items()[0].as_int64().value_or(-1),
            item.items()[1].as_string(),
            item.items()[2].as_string()};
        if (!keys.add(step)) {
            return std::nullopt;
        }
    }
    return keys;
}

}  // namespace interlock
