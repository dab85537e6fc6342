// A time-stamp server (RFC 3161) as a witness: each line goes there as its SHA-256, and the line
// and the token are kept side by side in a folder, `<time>-<seq>.json` and `<time>-<seq>.tsr`. The
// tokens prove when a line was there; the folder must lie elsewhere to prove that one is missing.
#pragma once

#include <string>

#include "host/witness/http_witness.h"

namespace interlock {

struct TsaWitnessOptions {
    HttpWitnessOptions server;
    std::string folder;   // Must be there.
    std::string ca_file;  // Who vouches for the tokens; empty: the system's authorities.
};

class TsaWitness final : public Witness {
public:
    explicit TsaWitness(TsaWitnessOptions options);

    std::string name() const override { return "time-stamp server at " + caller_.host(); }
    Result<std::optional<WitnessedHead>> newest() override;
    Result<void> push(const WitnessedHead& head) override;
    void cancel() override { caller_.cancel(); }

private:
    const std::string folder_;
    const std::string ca_file_;
    WitnessCaller caller_;
};

}  // namespace interlock
