#include "services/relay/relay_egress.h"

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

bool RelayEgress::submit(const BotKey& bot, const std::string& chat_id, std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        Bot& queue = bots_[bot];
        if (is_stopping_.load() || queue.waiting >= bounds_.waiting_per_bot_max) {
            return false;
        }
        Chat& chat = queue.chats[chat_id];
        chat.jobs.push_back(std::move(job));
        ++queue.waiting;
        if (!chat.is_running && chat.jobs.size() == 1) {
            queue.ready.push_back(chat_id);
        }
    }
    changed_.notify_one();
    return true;
}

bool RelayEgress::take(Taken& taken) {
    const auto may_run = [this](const auto& item) {
        return !item.second.ready.empty() && item.second.running < bounds_.running_per_bot_max;
    };
    auto found = std::find_if(bots_.upper_bound(last_), bots_.end(), may_run);
    if (found == bots_.end()) {
        found = std::find_if(bots_.begin(), bots_.end(), may_run);
    }
    if (found == bots_.end()) {
        return false;
    }
    auto& [key, bot] = *found;
    taken.bot = key;
    taken.chat_id = std::move(bot.ready.front());
    bot.ready.pop_front();
    Chat& chat = bot.chats[taken.chat_id];
    taken.job = std::move(chat.jobs.front());
    chat.jobs.pop_front();
    chat.is_running = true;
    ++bot.running;
    --bot.waiting;
    last_ = key;
    return true;
}

void RelayEgress::give_back(const Taken& taken) {
    Bot& bot = bots_[taken.bot];
    --bot.running;
    const auto chat = bot.chats.find(taken.chat_id);
    chat->second.is_running = false;
    if (chat->second.jobs.empty()) {
        bot.chats.erase(chat);
    } else {
        bot.ready.push_back(taken.chat_id);
    }
}

bool RelayEgress::run_one() {
    Taken taken;
    {
        const std::lock_guard lock(mutex_);
        if (!take(taken)) {
            return false;
        }
    }
    taken.job();
    const std::lock_guard lock(mutex_);
    give_back(taken);
    return true;
}

void RelayEgress::run() {
    while (true) {
        Taken taken;
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
        taken.job();
        {
            const std::lock_guard lock(mutex_);
            give_back(taken);
        }
        changed_.notify_all();  // The chat's next job, the bot's next chat, or a stop.
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
            // A part that is there makes the whole neither sent nor not.
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
