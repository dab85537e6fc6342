#include "app/mcp/mcp_session.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

constexpr std::array<std::string_view, 8> kLevelWords = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

}  // namespace

std::optional<McpLogLevel> parse_mcp_log_level(std::string_view word) {
    const auto found = std::ranges::find(kLevelWords, word);
    if (found == kLevelWords.end()) {
        return std::nullopt;
    }
    return static_cast<McpLogLevel>(found - kLevelWords.begin());
}

std::string_view to_word(McpLogLevel level) {
    return kLevelWords[static_cast<std::size_t>(level)];
}

bool McpSession::client_can(std::string_view capability) const {
    const Json* found = terms_.client_capabilities.find(capability);
    return found != nullptr && found->is_object();
}

McpSession::Begin McpSession::begin(const Json& request_id, McpOutletPtr outlet) {
    const std::lock_guard lock(mutex_);
    if (running_.size() >= kMcpRunningRequestsMax) {
        return Begin::too_many;
    }
    const bool is_new = running_.try_emplace(to_text(request_id), std::move(outlet)).second;
    return is_new ? Begin::begun : Begin::id_in_use;
}

bool McpSession::runs(const Json& request_id, const McpOutletPtr& outlet) const {
    const auto found = running_.find(to_text(request_id));
    return found != running_.end() && found->second == outlet;
}

bool McpSession::is_running(const Json& request_id, const McpOutletPtr& outlet) const {
    const std::lock_guard lock(mutex_);
    return runs(request_id, outlet);
}

bool McpSession::is_busy() const {
    const std::lock_guard lock(mutex_);
    return !running_.empty();
}

McpOutletPtr McpSession::take(const Json& request_id, const McpOutlet* outlet) {
    Questions dropped;  // Released after the lock: callbacks own things.
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(to_text(request_id));
    if (found == running_.end() || (outlet != nullptr && found->second.get() != outlet)) {
        return nullptr;
    }
    McpOutletPtr taken = std::move(found->second);
    running_.erase(found);
    for (auto question = questions_.begin(); question != questions_.end();) {
        const auto next = std::next(question);
        if (question->second.outlet == taken) {
            dropped.insert(questions_.extract(question));
        }
        question = next;
    }
    return taken;
}

bool McpSession::finish(const Json& request_id, const McpOutletPtr& outlet) {
    return take(request_id, outlet.get()) != nullptr;
}

McpOutletPtr McpSession::cancel(const Json& request_id) {
    return take(request_id, nullptr);
}

std::vector<McpOutletPtr> McpSession::finish_all() {
    Questions dropped;
    std::vector<McpOutletPtr> outlets;
    const std::lock_guard lock(mutex_);
    for (auto& [key, outlet] : running_) {
        outlets.push_back(std::move(outlet));
    }
    running_.clear();
    dropped.swap(questions_);
    return outlets;
}

std::optional<std::int64_t> McpSession::open_question(
    const Json& request_id, const McpOutletPtr& outlet, OnAnswer on_answer) {
    const std::lock_guard lock(mutex_);
    if (!runs(request_id, outlet) || questions_.size() >= kMcpQuestionsMax) {
        return std::nullopt;
    }
    const std::int64_t id = ++last_question_;
    questions_.emplace(id, Question{outlet, std::move(on_answer)});
    return id;
}

void McpSession::settle_question(const RpcResponse& response) {
    const std::optional<std::int64_t> id =
        response.id.is_number() ? response.id.as_int64() : std::nullopt;
    if (!id) {
        return;
    }
    OnAnswer on_answer;
    {
        const std::lock_guard lock(mutex_);
        const auto found = questions_.find(*id);
        if (found == questions_.end()) {
            return;
        }
        on_answer = std::move(found->second.on_answer);
        questions_.erase(found);
    }
    on_answer(response.outcome);
}

bool McpSession::subscribe(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    if (subscriptions_.size() >= kMcpSubscriptionsMax && !subscriptions_.contains(uri)) {
        return false;
    }
    subscriptions_.insert(uri);
    return true;
}

void McpSession::unsubscribe(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    subscriptions_.erase(uri);
}

bool McpSession::is_subscribed(const std::string& uri) const {
    const std::lock_guard lock(mutex_);
    return subscriptions_.contains(uri);
}

void McpSession::set_log_level(McpLogLevel level) {
    const std::lock_guard lock(mutex_);
    log_level_ = level;
}

bool McpSession::wants_log(McpLogLevel level) const {
    const std::lock_guard lock(mutex_);
    return level >= log_level_;
}

}  // namespace interlock
