#include "engine/service/witnessed_heads.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::size_t kPublicKeyBytes = 32;

std::string chain_key(const TenantId& tenant_id, const std::string& chain) {
    return "witnessed/" + tenant_id.text() + "/" + chain;
}
std::string index_key(const TenantId& tenant_id) {
    return "witnessed_chains/" + tenant_id.text();
}

std::vector<std::string> texts_of(FieldReader& in, std::string_view key, std::size_t count_max) {
    std::vector<std::string> texts;
    for (const Json& item : in.required_array(key, count_max)) {
        texts.push_back(item.is_string() ? item.as_string() : std::string());
    }
    return texts;
}

Result<std::vector<std::string>> decode_index(const Json& json) {
    FieldReader in(json);
    std::vector<std::string> chains = texts_of(in, "chains", kWitnessedChainsMax);
    return in.finish(std::move(chains));
}

Result<void> add_to_index(Turn& turn, const std::string& chain) {
    TRY_ASSIGN(
        std::vector<std::string> chains,
        turn.load_or(index_key(turn.tenant_id()), decode_index, std::vector<std::string>()));
    if (std::ranges::find(chains, chain) != chains.end()) {
        return {};
    }
    if (chains.size() >= kWitnessedChainsMax) {
        return fail(
            errors::too_many_chains,
            "The tenant has the seals of 64 ledgers, and takes no others.");
    }
    chains.push_back(chain);
    turn.save(index_key(turn.tenant_id()), Json::object({{"chains", json_list(chains)}}));
    return {};
}

Answer answer_of(const WitnessHead& request, const WitnessedChain& chain, bool agrees) {
    const Json json = Json::object({
        {"chain", request.chain},
        {"seq", request.head.head.seq},
        {"hash", request.head.head.hash},
        {"agrees", agrees},
        {"audit_ref", chain.audit_ref},
    });
    return {.http_status = 200, .body = to_text(json)};
}

Result<TurnReply> run_record(Turn& turn, const WitnessHead& request) {
    const std::string key = chain_key(turn.tenant_id(), request.chain);
    TRY_ASSIGN(WitnessedChain known, turn.load_or(key, decode_witnessed_chain, WitnessedChain()));
    HeadOrder order = HeadOrder::follows;
    if (!known.newest.empty()) {
        TRY_ASSIGN(const WitnessedHead newest, read_head_line(known.newest));
        order = order_of(newest, request.head);
    }
    if (order == HeadOrder::again) {
        return answer_of(request, known, true);
    }
    TRY(add_to_index(turn, request.chain));
    const bool agrees = order != HeadOrder::conflicts;
    AuditDraft draft = turn.draft(std::string(kWitnessedEvent));
    draft.detail.set("chain", request.chain);
    draft.detail.set("seq", request.head.head.seq);
    draft.detail.set("line", request.head.line);
    if (!agrees) {
        TRY_ASSIGN(const WitnessedHead newest, read_head_line(known.newest));
        draft.status = AuditStatus::failed;
        draft.severity = AuditSeverity::critical;
        draft.reason = "this seal " + short_text(request.head.head) + " and the one before, " +
                       short_text(newest.head) +
                       ", cannot both be of one ledger: it was put back or written anew";
        if (known.orphans.size() < kWitnessedOrphansMax) {
            known.orphans.push_back(known.newest);
        }
    }
    TRY_ASSIGN(known.audit_ref, turn.audit(std::move(draft)));
    known.newest = request.head.line;
    ++known.count;
    turn.save(key, encode(known));
    return answer_of(request, known, agrees);
}

}  // namespace

Json encode(const WitnessedChain& chain) {
    return Json::object({
        {"newest", chain.newest},
        {"audit_ref", chain.audit_ref},
        {"count", chain.count},
        {"orphans", json_list(chain.orphans)},
    });
}

Result<WitnessedChain> decode_witnessed_chain(const Json& json) {
    FieldReader in(json);
    WitnessedChain chain{
        .newest = in.required<std::string>("newest"),
        .audit_ref = in.required<std::string>("audit_ref"),
        .count = in.required<std::int64_t>("count"),
        .orphans = texts_of(in, "orphans", kWitnessedOrphansMax),
    };
    in.reject_unknown();
    return in.finish(std::move(chain));
}

Result<WitnessHead> decode_witness_head(const Json& json) {
    FieldReader in(json);
    WitnessHead request;
    request.chain = in.required<std::string>("chain");
    const std::string line = in.required_text("line", {.length_max = kHeadLineBytesMax});
    const auto key = from_hex(request.chain);
    if (in.ok() && (!key || key->size() != kPublicKeyBytes || to_hex(*key) != request.chain)) {
        in.add_problem("chain", "must be a public key of 64 lower-case hex digits");
    }
    if (in.ok()) {
        auto head = read_head_line(line);
        if (head) {
            request.head = *std::move(head);
        } else {
            in.add_problem("line", "is no line of a head log: " + head.error().message);
        }
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

void WitnessedHeads::record(
    Principal principal, TenantId tenant_id, WitnessHead request, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(tenant_id);
    turn.principal = std::move(principal);
    turn.function = "witness_head";
    turn.decide = [request = std::move(request)](Turn& running) {
        return run_record(running, request);
    };
    turn.reply = std::move(reply);
    submit_(std::move(turn));
}

Result<std::vector<std::string>> WitnessedHeads::lines(
    const TenantId& tenant_id, const std::string& chain) {
    TRY_ASSIGN(const auto stored, store_.load_state(chain_key(tenant_id, chain)));
    if (!stored) {
        return std::vector<std::string>();
    }
    TRY_ASSIGN(const Json json, parse_json(stored->json));
    TRY_ASSIGN(WitnessedChain known, decode_witnessed_chain(json));
    known.orphans.push_back(std::move(known.newest));
    return std::move(known.orphans);
}

}  // namespace interlock
