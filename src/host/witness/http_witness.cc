#include "host/witness/http_witness.h"

#include "base/errors.h"

namespace interlock {

WitnessCaller::WitnessCaller(HttpWitnessOptions options, EgressGuard guard)
    : options_(std::move(options)), guard_(std::move(guard)), client_(WebClient::create()) {
    const auto url = parse_web_url(options_.url);
    host_ = url ? url->authority() : "an address that cannot be read";
}

Result<HttpResponse> WitnessCaller::call(
    const std::string& method,
    const std::string& query,
    const std::string& content_type,
    std::string body) {
    WebCall call;
    call.method = method;
    call.url = options_.url + query;
    if (!content_type.empty()) {
        call.headers.push_back({"Content-Type", content_type});
    }
    if (!options_.token.reveal().empty()) {
        call.headers.push_back({"Authorization", "Bearer " + std::string(options_.token.reveal())});
    }
    call.body = std::move(body);
    call.timeout = kWitnessCallTimeout;
    call.body_bytes_max = kWitnessAnswerBytesMax;
    call.ca_file = options_.ca_file;
    call.is_cancelled = &is_cancelled_;
    TRY_ASSIGN(
        HttpResponse answer,
        guard_.send(*client_, std::move(call), EgressGuard::Giver::host_operator));
    if (answer.status < 200 || answer.status > 299) {
        return fail(errors::unavailable, "it answered " + std::to_string(answer.status));
    }
    return answer;
}

WebhookWitness::WebhookWitness(HttpWitnessOptions options, std::unique_ptr<Witness> memory)
    : caller_(std::move(options)), memory_(std::move(memory)) {}

Result<void> WebhookWitness::push(const WitnessedHead& head) {
    TRY(caller_.call("POST", "", "application/json", head.line));
    return memory_->push(head);
}

InterlockWitness::InterlockWitness(HttpWitnessOptions options, std::string chain)
    : caller_(std::move(options)), chain_(std::move(chain)) {}

Result<std::vector<std::string>> InterlockWitness::lines() {
    TRY_ASSIGN(const HttpResponse answer, caller_.call("GET", "?chain=" + chain_, "", ""));
    TRY_ASSIGN(const Json json, parse_json(answer.body));
    const Json* found = json.is_object() ? json.find("lines") : nullptr;
    if (found == nullptr || !found->is_array()) {
        return fail(errors::unavailable, "its answer holds no lines");
    }
    std::vector<std::string> lines;
    for (const Json& line : found->items()) {
        if (line.is_string()) {
            lines.push_back(line.as_string());
        }
    }
    return lines;
}

Result<std::optional<WitnessedHead>> InterlockWitness::newest() {
    TRY_ASSIGN(const std::vector<std::string> known, lines());
    if (known.empty()) {
        return std::nullopt;
    }
    TRY_ASSIGN(WitnessedHead head, read_head_line(known.back()));
    return head;
}

Result<void> InterlockWitness::push(const WitnessedHead& head) {
    const Json body = Json::object({{"chain", chain_}, {"line", head.line}});
    TRY(caller_.call("POST", "", "application/json", to_text(body)));
    return {};
}

}  // namespace interlock
