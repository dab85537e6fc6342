// Lines of a head log for tests, each naming the one before.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "base/crypto.h"
#include "engine/rules/witnessed_head.h"

namespace interlock {

class TestSeals {
public:
    WitnessedHead next() {
        AuditDraft draft;
        draft.tenant_id = system_tenant();
        draft.event = std::string(kSealEvent);
        draft.decision_id = DecisionId::trusted("sys_1");
        draft.tick_id = TickId::trusted("-");
        draft.principal = "internal:ledger";
        draft.timestamp = Timestamp{1'794'744'000'000'000 + head_.seq * 1'000'000};
        Seal seal;
        seal.public_key = to_hex(pair_.public_key);
        seal.previous_seq = head_.seq;
        seal.previous_hash = head_.seq == 0 ? "" : head_.hash;
        seal.rows = {0, std::string(64, '0')};
        seal.heads = SealedHeads{0, std::string(64, '0')};
        const auto sealed = sign_seal(head_, draft, seal, [this](std::string_view text) {
            return ed25519_sign(pair_, text);
        });
        EXPECT_TRUE(sealed.has_value());
        auto head = read_head_line(
            R"({"record":)" + sealed->canonical + R"(,"hash":")" + head_.hash + "\"}");
        EXPECT_TRUE(head.has_value());
        return *std::move(head);
    }

private:
    const Ed25519KeyPair pair_ = *ed25519_from_seed(std::string(32, 'k'));
    ChainHead head_;
};

}  // namespace interlock
