// The end of the delivery leg: what is due goes to the socket, with its files where it has some.
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "relay/service/relay_delivery.h"

namespace interlock {
namespace {

constexpr std::int64_t kPumpBytesMax = std::int64_t{4} * 1024 * 1024;

}  // namespace

void RelayDelivery::pump(const std::string& instance_id) {
    Box& box = box_of(instance_id);
    if (!box.session) {
        return;
    }
    const Timestamp now = parts_.clock.now();
    if (box.queue.is_idle_answer_due(now)) {
        // Forwards count as read once their gateway leaves, so they have to arrive before the
        // answer. A socket that did not take the answer has let nobody go.
        std::string answer = encode_line(ConnectorFrame(GoingIdleAckFrame{}));
        RelaySocket& socket = *box.session->socket;
        if (box.queue.has_forwards_out() ? socket.send(std::move(answer))
                                         : socket.send_urgent(std::move(answer))) {
            box.queue.told_idle();
        }
    }
    const std::vector<std::int64_t> due = box.queue.take_due(now);
    if (!due.empty()) {
        write(instance_id, box, due);
    }
}

Result<std::string> RelayDelivery::text_of(
    const std::string& instance_id, Box& box, std::int64_t seq) {
    if (const auto hot = box.hot.find(seq); hot != box.hot.end()) {
        std::string text = std::move(hot->second);
        box.hot.erase(hot);
        return text;
    }
    TRY_ASSIGN(
        auto read, parts_.state.store().read_entries(instance_id, seq - 1, 1, kPumpBytesMax));
    if (read.empty() || read.front().seq != seq) {
        return fail(errors::corrupt_data, "the entry is not in the buffer");
    }
    return std::move(read.front().text);
}

// Nothing while the files of the message are being fetched.
std::optional<std::string> RelayDelivery::with_files(
    const std::string& instance_id, Box& box, std::int64_t seq, std::string text) {
    if (!has_waiting_files(text)) {
        return text;
    }
    if (parts_.files == nullptr) {
        return RelayFiles::text_without_files(text);
    }
    auto whole = parts_.files->text_for(
        {box.session->caller.tenant_id, instance_id, seq},
        text,
        box.session->media_base,
        parts_.clock.now());
    if (!whole && box.hot.size() < kHotTextsMax) {
        box.hot.emplace(seq, std::move(text));
    }
    return whole;
}

// What is due together leaves together, in one message of the socket if it fits.
void RelayDelivery::write(
    const std::string& instance_id, Box& box, const std::vector<std::int64_t>& due) {
    std::string joined;
    std::vector<std::int64_t> seqs;  // Whose lines are in it.
    const auto send = [&] {
        if (!seqs.empty() && !box.session->socket->send(std::exchange(joined, {}))) {
            box.queue.not_written(seqs.front());
            return false;  // The socket's end comes as closed().
        }
        for (const std::int64_t seq : std::exchange(seqs, {})) {
            const QueuedEntry* entry = box.queue.find(seq);
            ++counters_.written;
            counters_.written_again += entry != nullptr && entry->attempts > 0 ? 1 : 0;
        }
        return true;
    };
    for (const std::int64_t seq : due) {
        Result<std::string> stored = text_of(instance_id, box, seq);
        if (!stored) {
            // Another socket gets it, unless three could not.
            log_error("relay_entry_unreadable", {{"instance_id", instance_id}, {"seq", seq}});
            box.queue.not_written(seq + 1);
            if (send()) {
                box.session->socket->close(kCloseTryLater, "the buffer could not be read");
            }
            return;
        }
        const auto text = with_files(instance_id, box, seq, *std::move(stored));
        if (!text) {
            box.queue.not_written(seq);
            break;  // What is behind it waits, too.
        }
        const QueuedEntry* entry = box.queue.find(seq);
        const std::string id = std::to_string(seq);
        const bool is_forward = entry != nullptr && entry->kind == EntryKind::passthrough;
        const std::string line = is_forward ? passthrough_line(*text, id) : inbound_line(*text, id);
        if (joined.size() + line.size() > kJoinedBytesMax && !send()) {
            return;
        }
        joined += line;
        seqs.push_back(seq);
    }
    send();
}

}  // namespace interlock
