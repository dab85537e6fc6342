#include "relay/service/relay_egress.h"

#include <algorithm>
#include <utility>

namespace interlock {

RelayEgress::RelayEgress(Bounds bounds, Pause pause) : bounds_(bounds), pause_(std::move(pause)) {
    for (std::size_t i = 0; i < bounds_.threads; ++i) {
        threads_.emplace_back([this] { run(); });
    }
}

RelayEgress::~RelayEgress() {
    stop();
}

namespace {

// The first behind `last` that may run, going round; the end when none may.
template <class Map, class Key, class May>
auto next_of(Map& map, const Key& last, const May& may) {
    const auto is_next = [&](const auto& item) { return may(item.second); };
    const auto found = std::find_if(map.upper_bound(last), map.end(), is_next);
    return found != map.end() ? found : std::find_if(map.begin(), map.end(), is_next);
}

}  // namespace

void RelayEgress::make_ready(Bot& bot, const std::string& chat_id) {
    const Place& place = bot.chats[chat_id].jobs.front().place;
    bot.tenants[place.tenant_id].instances[place.instance_id].ready.push_back(chat_id);
}

bool RelayEgress::submit(const Place& place, std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        Bot& bot = bots_[place.bot];
        if (is_stopping_.load() || bot.waiting >= bounds_.waiting_per_bot_max) {
            return false;
        }
        Chat& chat = bot.chats[place.chat_id];
        chat.jobs.push_back({place, std::move(job)});
        ++bot.waiting;
        if (!chat.is_running && chat.jobs.size() == 1) {
            make_ready(bot, place.chat_id);
        }
    }
    changed_.notify_one();
    return true;
}

bool RelayEgress::may_run(const Instance& instance) const {
    return !instance.ready.empty() && instance.running < bounds_.running_per_instance_max;
}

bool RelayEgress::may_run(const Tenant& tenant) const {
    return tenant.running < bounds_.running_per_tenant_max &&
           std::ranges::any_of(
               tenant.instances, [this](const auto& item) { return may_run(item.second); });
}

bool RelayEgress::may_run(const Bot& bot) const {
    return bot.running < bounds_.running_per_bot_max &&
           std::ranges::any_of(
               bot.tenants, [this](const auto& item) { return may_run(item.second); });
}

bool RelayEgress::take(Job& taken) {
    const auto may = [this](const auto& part) { return may_run(part); };
    const auto bot = next_of(bots_, last_, may);
    if (bot == bots_.end()) {
        return false;
    }
    const auto tenant = next_of(bot->second.tenants, bot->second.last, may);
    const auto instance = next_of(tenant->second.instances, tenant->second.last, may);
    const std::string chat_id = std::move(instance->second.ready.front());
    instance->second.ready.pop_front();
    Chat& chat = bot->second.chats[chat_id];
    taken = std::move(chat.jobs.front());
    chat.jobs.pop_front();
    chat.is_running = true;
    ++instance->second.running;
    ++tenant->second.running;
    ++bot->second.running;
    --bot->second.waiting;
    last_ = bot->first;
    bot->second.last = tenant->first;
    tenant->second.last = instance->first;
    return true;
}

void RelayEgress::give_back(const Place& place) {
    Bot& bot = bots_[place.bot];
    const auto tenant = bot.tenants.find(place.tenant_id);
    const auto instance = tenant->second.instances.find(place.instance_id);
    --bot.running;
    --tenant->second.running;
    --instance->second.running;
    const auto chat = bot.chats.find(place.chat_id);
    chat->second.is_running = false;
    if (chat->second.jobs.empty()) {
        bot.chats.erase(chat);
    } else {
        make_ready(bot, place.chat_id);
    }
    // Instances without jobs are forgotten.
    if (instance->second.running == 0 && instance->second.ready.empty()) {
        tenant->second.instances.erase(instance);
    }
    if (tenant->second.instances.empty()) {
        bot.tenants.erase(tenant);
    }
}

bool RelayEgress::run_one() {
    Job taken;
    {
        const std::lock_guard lock(mutex_);
        if (!take(taken)) {
            return false;
        }
    }
    taken.run();
    const std::lock_guard lock(mutex_);
    give_back(taken.place);
    return true;
}

void RelayEgress::run() {
    while (true) {
        Job taken;
        {
            std::unique_lock lock(mutex_);
            while (!take(taken)) {
                const bool is_empty =
                    std::ranges::all_of(bots_, [](auto& item) { return item.second.waiting == 0; });
                if (is_stopping_.load() && is_empty) {
                    return;
                }
                changed_.wait(lock);
            }
        }
        taken.run();
        {
            const std::lock_guard lock(mutex_);
            give_back(taken.place);
        }
        changed_.notify_all();  // The chat's next job, somebody else's, or a stop.
    }
}

void RelayEgress::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_.store(true);
    }
    changed_.notify_all();
    stopped_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
    while (run_one()) {
    }
}

bool RelayEgress::pause(Duration span) {
    if (pause_) {
        return !is_stopping_.load() && pause_(span);
    }
    std::unique_lock lock(mutex_);
    stopped_.wait_for(
        lock, std::chrono::microseconds(span.microseconds), [this] { return is_stopping_.load(); });
    return !is_stopping_.load();
}

std::size_t RelayEgress::waiting() const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto& [key, bot] : bots_) {
        count += bot.waiting;
    }
    return count;
}

bool EgressGate::begin() {
    unsigned seen = state_.load();
    while ((seen & kClosed) == 0) {
        if (state_.compare_exchange_weak(seen, seen | kCalling)) {
            return true;
        }
    }
    return false;
}

void EgressGate::end(bool may_have_sent) {
    if (may_have_sent) {
        state_.fetch_or(kSent);
    }
    state_.fetch_and(~kCalling);
}

EgressGate::Closed EgressGate::close() {
    const unsigned seen = state_.fetch_or(kClosed);
    return {(seen & kCalling) != 0, (seen & kSent) != 0};
}

namespace {

PlatformReply not_begun(std::string code, std::string error) {
    PlatformReply reply;
    reply.code = std::move(code);
    reply.error = std::move(error);
    return reply;
}

// One piece until it is sent, unknown, or not worth another try.
PlatformReply send_piece(
    EgressOrder& order, std::size_t index, Clock& clock, const RelayEgress::Pause& pause) {
    PlatformCall& call = order.calls[index];
    for (int tries = 1;; ++tries) {
        if (clock.now() > order.not_after || !order.gate.begin()) {
            return not_begun("timed_out", "the message waited too long and was not sent");
        }
        PlatformReply reply = order.platform->call(call);
        order.gate.end(reply.outcome != CallOutcome::not_sent);
        if (reply.outcome != CallOutcome::not_sent) {
            return reply;
        }
        if (!reply.retry_after || tries >= kEgressTriesMax) {
            return reply;
        }
        const Duration wait = std::max(*reply.retry_after, Duration::of_milliseconds(1));
        if (clock.now() + wait > order.not_after || !pause(wait)) {
            return reply;
        }
    }
}

void use_own_credential(EgressOrder& order) {
    for (PlatformCall& call : order.calls) {
        call.capability = SecretString();
        call.capability_kind.clear();
        call.edits_original = false;
    }
    order.falls_back = false;
}

}  // namespace

EgressReport run_order(EgressOrder& order, Clock& clock, const RelayEgress::Pause& pause) {
    EgressReport report;
    if (order.load_media) {
        Result<std::string> bytes = order.load_media();
        if (!bytes) {
            report.last = not_begun("not_found", "the media is no longer there");
            return report;
        }
        order.calls.front().media_bytes = *std::move(bytes);
    }
    for (std::size_t i = 0; i < order.calls.size(); ++i) {
        report.last = send_piece(order, i, clock, pause);
        if (i == 0 && order.falls_back && report.last.outcome == CallOutcome::not_sent) {
            use_own_credential(order);
            report.last = send_piece(order, i, clock, pause);
        }
        if (report.last.outcome != CallOutcome::sent) {
            // When a part is there, the whole is neither sent nor not sent.
            const bool is_partial = !report.message_ids.empty() || i > 0;
            report.outcome = is_partial ? CallOutcome::unknown : report.last.outcome;
            return report;
        }
        report.message_ids.push_back(report.last.message_id);
    }
    report.outcome = CallOutcome::sent;
    return report;
}

}  // namespace interlock
