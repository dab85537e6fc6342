// Redis Streams under the load of `bench relay --only inbound`.
#include <charconv>
#include <initializer_list>

#include "base/errors.h"
#include "bench/stream_peers.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kTurn{100};
constexpr std::chrono::seconds kSetUpPatience{60};

void append_bulk(std::string& out, std::string_view text) {
    out += '$';
    out += std::to_string(text.size());
    out += "\r\n";
    out += text;
    out += "\r\n";
}

void append_head(std::string& out, std::size_t words) {
    out += '*';
    out += std::to_string(words);
    out += "\r\n";
}

std::string command(std::initializer_list<std::string_view> words) {
    std::string out;
    append_head(out, words.size());
    for (const std::string_view word : words) {
        append_bulk(out, word);
    }
    return out;
}

std::string stream_of(std::int64_t instance) {
    return "relay:" + std::to_string(instance);
}

// Walks over replies; at the end of the bytes it says so from then on.
class Cursor {
public:
    explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

    bool is_short() const { return is_short_; }
    std::size_t at() const { return at_; }

    struct Head {
        char type = 0;
        std::int64_t number = 0;
    };
    Head head() {
        const std::size_t end = bytes_.find("\r\n", at_);
        if (is_short_ || end == std::string_view::npos) {
            is_short_ = true;
            return {};
        }
        Head head{.type = bytes_[at_]};
        std::from_chars(bytes_.data() + at_ + 1, bytes_.data() + end, head.number);
        at_ = end + 2;
        return head;
    }
    // What follows a bulk's head.
    std::string_view bulk(const Head& head) {
        if (head.type != '$' || head.number < 0) {
            return {};
        }
        const auto size = static_cast<std::size_t>(head.number);
        if (is_short_ || bytes_.size() < at_ + size + 2) {
            is_short_ = true;
            return {};
        }
        const std::string_view text = bytes_.substr(at_, size);
        at_ += size + 2;
        return text;
    }
    // Elements of an array whose head was read; 0 for anything else, which is then passed.
    std::int64_t elements(const Head& head) {
        if (head.type == '*') {
            return std::max<std::int64_t>(0, head.number);
        }
        bulk(head);
        return 0;
    }
    void skip() {
        for (std::int64_t left = elements(head()); left > 0 && !is_short_; --left) {
            skip();
        }
    }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool is_short_ = false;
};

class RedisLoad {
public:
    RedisLoad(SocketSwarm swarm, const StreamLoad& load)
        : swarm_(std::move(swarm)), load_(load), loop_(load) {
        payload_.assign(static_cast<std::size_t>(load.event_bytes), 'x');
    }

    Result<StreamFigures> run(std::uint16_t port);

private:
    static constexpr std::size_t kProducer = 0;
    // Replies to come on a consumer's connection before the next one that carries entries.
    struct Consumer {
        std::int64_t to_finish = 0;  // Messages that the next XACK and XDEL end.
        int plain_replies = 0;
    };

    Result<void> set_up(std::uint16_t port);
    void add(std::int64_t instance);
    void read_more(std::int64_t instance);
    Result<std::size_t> take(std::size_t number, std::string_view bytes);
    Result<void> take_consumer(std::size_t number, const RedisReply& reply);

    SocketSwarm swarm_;
    const StreamLoad load_;
    ClosedLoop loop_;
    std::string payload_;
    std::int64_t set_up_left_ = 0;
    std::vector<Consumer> consumers_;
};

void RedisLoad::add(std::int64_t instance) {
    loop_.begin(instance);
    swarm_.send(kProducer, command({"XADD", stream_of(instance), "*", "e", payload_}));
}

void RedisLoad::read_more(std::int64_t instance) {
    const std::string count = std::to_string(load_.in_flight);
    swarm_.send(
        static_cast<std::size_t>(instance) + 1,
        command(
            {"XREADGROUP",
             "GROUP",
             "g",
             "c",
             "COUNT",
             count,
             "BLOCK",
             "0",
             "STREAMS",
             stream_of(instance),
             ">"}));
}

Result<void> RedisLoad::take_consumer(std::size_t number, const RedisReply& reply) {
    Consumer& consumer = consumers_[number - 1];
    const auto instance = static_cast<std::int64_t>(number - 1);
    if (consumer.plain_replies > 0) {
        if (--consumer.plain_replies == 0) {
            for (; consumer.to_finish > 0; --consumer.to_finish) {
                loop_.end(instance);
                add(instance);
            }
        }
        return {};
    }
    const std::string stream = stream_of(instance);
    std::string out;
    for (const std::string_view verb : {"XACK", "XDEL"}) {
        const bool names_group = verb == "XACK";
        append_head(out, reply.entry_ids.size() + (names_group ? 3 : 2));
        append_bulk(out, verb);
        append_bulk(out, stream);
        if (names_group) {
            append_bulk(out, "g");
        }
        for (const std::string_view id : reply.entry_ids) {
            append_bulk(out, id);
        }
    }
    consumer.plain_replies = 2;
    consumer.to_finish = static_cast<std::int64_t>(reply.entry_ids.size());
    swarm_.send(number, out);
    read_more(instance);
    return {};
}

Result<std::size_t> RedisLoad::take(std::size_t number, std::string_view bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const std::string_view rest = bytes.substr(done);
        const RedisReply reply = read_redis_reply(rest);
        if (reply.end == 0) {
            break;
        }
        if (reply.is_error) {
            return fail(
                errors::unavailable,
                "Redis answered \"" + std::string(rest.substr(0, reply.end - 2)) + "\".");
        }
        if (set_up_left_ > 0) {
            --set_up_left_;
        } else if (number != kProducer) {
            TRY(take_consumer(number, reply));
        }
        done += reply.end;
    }
    return done;
}

Result<void> RedisLoad::set_up(std::uint16_t port) {
    TRY(swarm_.connect(port));
    consumers_.resize(static_cast<std::size_t>(load_.instances));
    for (std::int64_t i = 0; i < load_.instances; ++i) {
        TRY(swarm_.connect(port));
        swarm_.send(kProducer, command({"XGROUP", "CREATE", stream_of(i), "g", "$", "MKSTREAM"}));
    }
    set_up_left_ = load_.instances;
    const auto deadline = std::chrono::steady_clock::now() + kSetUpPatience;
    while (set_up_left_ > 0 && std::chrono::steady_clock::now() < deadline) {
        TRY(swarm_.turn(kTurn, [this](auto number, auto bytes) { return take(number, bytes); }));
    }
    if (set_up_left_ > 0) {
        return fail(errors::timed_out, "Redis did not make its streams in time.");
    }
    return {};
}

Result<StreamFigures> RedisLoad::run(std::uint16_t port) {
    TRY(set_up(port));
    for (std::int64_t instance = 0; instance < load_.instances; ++instance) {
        read_more(instance);
    }
    loop_ = ClosedLoop(load_);
    for (std::int64_t i = 0; i < load_.in_flight; ++i) {
        for (std::int64_t instance = 0; instance < load_.instances; ++instance) {
            add(instance);
        }
    }
    while (!loop_.is_over()) {
        TRY(swarm_.turn(kTurn, [this](auto number, auto bytes) { return take(number, bytes); }));
    }
    return loop_.figures();
}

}  // namespace

// Streams, each a pair of its name and its entries, each of those a pair of its id and its fields.
RedisReply read_redis_reply(std::string_view bytes) {
    Cursor cursor(bytes);
    RedisReply reply;
    const Cursor::Head outer = cursor.head();
    reply.is_error = outer.type == '-';
    for (std::int64_t streams = cursor.elements(outer); streams > 0; --streams) {
        if (cursor.elements(cursor.head()) != 2) {
            continue;
        }
        cursor.skip();
        for (std::int64_t left = cursor.elements(cursor.head()); left > 0; --left) {
            if (cursor.elements(cursor.head()) == 2) {
                reply.entry_ids.push_back(cursor.bulk(cursor.head()));
                cursor.skip();
            }
            if (cursor.is_short()) {
                return {};
            }
        }
    }
    if (cursor.is_short()) {
        return {};
    }
    reply.end = cursor.at();
    return reply;
}

Result<StreamFigures> load_redis(std::uint16_t port, const StreamLoad& load) {
    TRY_ASSIGN(SocketSwarm swarm, SocketSwarm::create());
    return RedisLoad(std::move(swarm), load).run(port);
}

}  // namespace interlock
