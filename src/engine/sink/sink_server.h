// The recording sink as a process of its own: takes lines of sink_wire on a Unix socket, records
// effects in a journal and answers. It outlives the servers that send to it, so it can tell whether
// one of them sent an effect twice.
//
// One thread around poll(). With `answer_delay` and `drop_answers_every` it plays a slow or
// forgetful venue: the effect happens at once, only its answer is late or never comes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "engine/ports/clock.h"
#include "engine/sink/effect_journal.h"
#include "net/unix_socket.h"

namespace interlock {

inline constexpr std::size_t kSinkConnectionsMax = 64;  // One more is closed at once.
// Answers a peer does not fetch; its connection is then closed.
inline constexpr std::size_t kSinkUnsentBytesMax = std::size_t{1024} * 1024;
inline constexpr std::size_t kSinkDelayedMax = 10'000;  // Answers held back; then likewise.

struct SinkServerOptions {
    std::string socket_path;
    EffectJournalOptions journal;
    Duration answer_delay;
    std::int64_t drop_answers_every = 0;  // Every n-th perform gets no answer; 0: all get one.
};

class SinkServer {
public:
    // Listens on return.
    static Result<std::unique_ptr<SinkServer>> open(const SinkServerOptions& options, Clock& clock);
    ~SinkServer();
    SinkServer(const SinkServer&) = delete;
    SinkServer& operator=(const SinkServer&) = delete;

    // Serves until `stop_descriptor` becomes readable.
    Result<void> run(int stop_descriptor);

    const SinkCounts& counts() const { return parts_.journal.counts(); }

private:
    struct Connection {
        std::uint64_t number = 0;
        std::string received;
        std::string unsent;
    };
    struct Delayed {
        Duration due;
        int descriptor;
        std::uint64_t connection_number;  // A descriptor is used again, a number is not.
        std::string line;
    };
    struct Parts {
        SinkServerOptions options;
        Clock& clock;  // Outlives the server.
        EffectJournal journal;
        UnixListener listener;
    };

    explicit SinkServer(Parts parts);
    Result<bool> run_once(int stop_descriptor);  // False: asked to stop.
    void accept_all();
    void serve(int descriptor, short events);
    // These say false when the connection is of no further use.
    bool receive(int descriptor, Connection& connection);
    bool take_lines(int descriptor, Connection& connection);
    bool answer_line(int descriptor, Connection& connection, std::string_view line);
    bool send_unsent(int descriptor, Connection& connection);
    SinkAnswer run_request(const SinkPerform& perform);
    SinkAnswer run_request(const SinkFind& find);
    EffectJournal::Arrival arrival();
    void send_due();
    int wait_ms();
    void close(int descriptor);

    Parts parts_;
    int listener_descriptor_;
    std::uint64_t connections_accepted_ = 0;
    std::int64_t performs_ = 0;
    std::map<int, Connection> connections_;
    std::deque<Delayed> delayed_;  // In order of `due`.
};

}  // namespace interlock
