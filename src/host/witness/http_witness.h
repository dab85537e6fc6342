// A witness that is called: a webhook, which gets each line as the body of a POST, or another
// Interlock, which keeps the line in its own ledger and can be asked what it has.
//
// The URL is the operator's, so it may point inside; TLS is checked and no redirect is followed all
// the same.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/secret_string.h"
#include "engine/ports/witness.h"
#include "net/egress_guard.h"

namespace interlock {

inline constexpr std::chrono::milliseconds kWitnessCallTimeout{20'000};
// Answers of another Interlock hold its newest line and those that went back; of others, nothing.
inline constexpr std::size_t kWitnessAnswerBytesMax = std::size_t{4} * 1024 * 1024;

struct HttpWitnessOptions {
    std::string url;
    SecretString token = SecretString("");  // Bearer; empty: none.
    std::string ca_file;
};

// How witnesses are called; one object for one thread.
class WitnessCaller {
public:
    explicit WitnessCaller(HttpWitnessOptions options, EgressGuard guard = EgressGuard());

    // Any status of 200 to 299 is an answer, everything else an error that tells it.
    Result<HttpResponse> call(
        const std::string& method,
        const std::string& query,
        const std::string& content_type,
        std::string body);
    const std::string& host() const { return host_; }
    void cancel() { is_cancelled_.store(true); }

private:
    const HttpWitnessOptions options_;
    const EgressGuard guard_;
    std::string host_;  // With its port; what may be shown of the URL.
    std::unique_ptr<WebClient> client_;
    std::atomic<bool> is_cancelled_{false};
};

class WebhookWitness final : public Witness {
public:
    // `memory` remembers what it took, since it cannot be asked.
    WebhookWitness(HttpWitnessOptions options, std::unique_ptr<Witness> memory);

    std::string name() const override { return "webhook at " + caller_.host(); }
    Result<std::optional<WitnessedHead>> newest() override { return memory_->newest(); }
    Result<void> push(const WitnessedHead& head) override;
    void cancel() override { caller_.cancel(); }

private:
    WitnessCaller caller_;
    const std::unique_ptr<Witness> memory_;
};

class InterlockWitness final : public Witness {
public:
    // `chain` is the first public key, hex: one server may witness many others.
    InterlockWitness(HttpWitnessOptions options, std::string chain);

    std::string name() const override { return "interlock at " + caller_.host(); }
    Result<std::optional<WitnessedHead>> newest() override;
    // What it has of the chain: the lines that a later one went back behind, and the newest.
    Result<std::vector<std::string>> lines();
    Result<void> push(const WitnessedHead& head) override;
    void cancel() override { caller_.cancel(); }

private:
    WitnessCaller caller_;
    const std::string chain_;
};

}  // namespace interlock
