#include "engine/service/moved_heads.h"

#include "engine/rules/tail_proof.h"

namespace interlock {

void MovedHeads::add(std::span<const LedgerEntry> entries, std::span<const Checkpoint> seals) {
    for (const LedgerEntry& entry : entries) {
        heads_[entry.tenant_id] = {entry.seq, entry.hash};
    }
    for (const Checkpoint& seal : seals) {
        const auto head = heads_.find(seal.tenant_id);
        if (head != heads_.end() && head->second.seq == seal.seq) {
            heads_.erase(head);
        }
    }
}

std::vector<HeadProof> MovedHeads::prove(std::string_view book, const SealKeys& keys) const {
    std::vector<HeadLine> lines;
    for (const auto& [tenant_id, head] : heads_) {
        lines.push_back({std::string(book), tenant_id, head});
    }
    std::vector<std::string> texts = prove_tails(
        lines, keys.current().epoch, [&](std::string_view text) { return keys.sign(text); });
    std::vector<HeadProof> proofs;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        proofs.push_back({std::move(lines[i].tenant_id), std::move(texts[i])});
    }
    return proofs;
}

}  // namespace interlock
