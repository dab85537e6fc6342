// A mail server on a loopback port that says what a test wrote down: refusals, silence, a cut line,
// with or without TLS. It remembers what it was told.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace interlock {

// Instead of a reply.
inline constexpr std::string_view kSilence = "<silence>";  // Says nothing, ever.
inline constexpr std::string_view kCut = "<cut>";          // Closes the connection.
inline constexpr std::string_view kNoEnd = "<no end>";     // Goes on with a reply for ever.

struct SmtpTalk {
    std::vector<std::string> lines;  // Commands and answers to challenges, in order.
    std::string data;                // As it came, dots stuffed, without the final one.
    bool has_data = false;
    bool in_tls_at_mail = false;
    bool in_tls_at_auth = false;
};

class SmtpServer {
public:
    struct Script {
        // By verb: "EHLO", "MAIL", …; "GREETING" comes first, "LETTER" follows the final dot,
        // "USER" and "SECRET" answer the steps of a login.
        std::map<std::string, std::string> replies = {};
        std::string certificate_path = "";  // Set: offers STARTTLS.
        std::string key_path = "";
        bool is_implicit = false;
    };

    explicit SmtpServer(Script script) : script_(std::move(script)) {
        if (!script_.certificate_path.empty()) {
            context_ = SSL_CTX_new(TLS_server_method());
            EXPECT_EQ(
                SSL_CTX_use_certificate_chain_file(context_, script_.certificate_path.c_str()), 1);
            EXPECT_EQ(
                SSL_CTX_use_PrivateKey_file(context_, script_.key_path.c_str(), SSL_FILETYPE_PEM),
                1);
        }
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(listener_, generic, size), 0);
        EXPECT_EQ(::listen(listener_, 8), 0);
        EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~SmtpServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
        SSL_CTX_free(context_);
    }
    SmtpServer(const SmtpServer&) = delete;
    SmtpServer& operator=(const SmtpServer&) = delete;

    std::uint16_t port() const { return port_; }

    // The next talk that ended; empty when none does.
    SmtpTalk next_talk() {
        std::unique_lock lock(mutex_);
        if (!has_ended_.wait_for(
                lock, std::chrono::seconds(20), [this] { return !talks_.empty(); })) {
            ADD_FAILURE() << "nobody talked to the mail server";
            return {};
        }
        SmtpTalk talk = std::move(talks_.front());
        talks_.erase(talks_.begin());
        return talk;
    }
    bool has_talks() {
        const std::lock_guard lock(mutex_);
        return !talks_.empty();
    }

private:
    // One connection; its own thread's only.
    struct Line {
        int descriptor = -1;
        SSL* tls = nullptr;
        std::string unread;

        bool read_more() {
            char buffer[4096];
            const auto count = tls != nullptr
                                   ? static_cast<ssize_t>(SSL_read(tls, buffer, sizeof(buffer)))
                                   : ::recv(descriptor, buffer, sizeof(buffer), 0);
            if (count > 0) {
                unread.append(buffer, static_cast<std::size_t>(count));
            }
            return count > 0;
        }
        bool read_until(std::string_view end, std::string& text) {
            std::size_t at = unread.find(end);
            while (at == std::string::npos) {
                if (!read_more()) {
                    return false;
                }
                at = unread.find(end);
            }
            text = unread.substr(0, at);
            unread.erase(0, at + end.size());
            return true;
        }
        bool write(std::string_view bytes) {
            while (!bytes.empty()) {
                const auto count =
                    tls != nullptr ? static_cast<ssize_t>(SSL_write(
                                         tls, bytes.data(), static_cast<int>(bytes.size())))
                                   : ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
                if (count <= 0) {
                    return false;
                }
                bytes.remove_prefix(static_cast<std::size_t>(count));
            }
            return true;
        }
    };

    void serve() {
        while (true) {
            Line line;
            line.descriptor = ::accept(listener_, nullptr, nullptr);
            if (line.descriptor < 0) {
                return;
            }
            SmtpTalk talk;
            if (!script_.is_implicit || begin_tls(line)) {
                run(line, talk);
            }
            SSL_free(line.tls);
            ::close(line.descriptor);
            const std::lock_guard lock(mutex_);
            talks_.push_back(std::move(talk));
            has_ended_.notify_all();
        }
    }

    bool begin_tls(Line& line) {
        line.tls = SSL_new(context_);
        SSL_set_fd(line.tls, line.descriptor);
        return SSL_accept(line.tls) == 1;
    }

    std::string reply_to(const std::string& verb, const Line& line) const {
        if (const auto found = script_.replies.find(verb); found != script_.replies.end()) {
            return found->second;
        }
        if (verb == "GREETING") {
            return "220 mail.test ready";
        }
        if (verb == "EHLO") {
            const bool offers_tls = context_ != nullptr && line.tls == nullptr;
            return std::string("250-mail.test\r\n") + (offers_tls ? "250-STARTTLS\r\n" : "") +
                   "250-AUTH LOGIN PLAIN\r\n250 8BITMIME";
        }
        if (verb == "AUTH" || verb == "USER") {
            return "334 VXNlcm5hbWU6";
        }
        return verb == "SECRET"     ? "235 welcome"
               : verb == "STARTTLS" ? "220 go ahead"
               : verb == "DATA"     ? "354 go on"
               : verb == "QUIT"     ? "221 bye"
                                    : "250 fine";
    }

    // False: the talk is over.
    bool answer(const std::string& verb, Line& line) {
        const std::string reply = reply_to(verb, line);
        if (reply == kCut) {
            return false;
        }
        if (reply == kSilence) {
            while (line.read_more()) {  // Until the other side gives up.
            }
            return false;
        }
        if (reply == kNoEnd) {
            while (line.write("250-and another thing\r\n")) {
            }
            return false;
        }
        return line.write(reply + "\r\n");
    }

    bool take_login(const std::string& command, Line& line, SmtpTalk& talk) {
        talk.in_tls_at_auth = line.tls != nullptr;
        const bool is_login = command.starts_with("AUTH LOGIN");
        std::string given;
        const bool has_steps = answer("AUTH", line) && line.read_until("\r\n", given);
        talk.lines.push_back(given);
        if (!has_steps || !is_login) {
            return has_steps && answer("SECRET", line);
        }
        const bool has_secret = answer("USER", line) && line.read_until("\r\n", given);
        talk.lines.push_back(given);
        return has_secret && answer("SECRET", line);
    }

    void run(Line& line, SmtpTalk& talk) {
        bool goes_on = answer("GREETING", line);
        std::string command;
        while (goes_on && line.read_until("\r\n", command)) {
            talk.lines.push_back(command);
            const std::string verb = command.substr(0, command.find(' '));
            if (verb == "AUTH" && !reply_to("AUTH", line).starts_with("5")) {
                goes_on = take_login(command, line, talk);
                continue;
            }
            talk.in_tls_at_mail = talk.in_tls_at_mail || (verb == "MAIL" && line.tls != nullptr);
            goes_on = answer(verb, line);
            if (verb == "STARTTLS" && goes_on && reply_to(verb, line).starts_with("2")) {
                goes_on = begin_tls(line);
            } else if (verb == "DATA" && goes_on && reply_to(verb, line).starts_with("3")) {
                talk.has_data = line.read_until("\r\n.\r\n", talk.data);
                goes_on = talk.has_data && answer("LETTER", line);
            } else if (verb == "QUIT") {
                goes_on = false;
            }
        }
    }

    Script script_;
    SSL_CTX* context_ = nullptr;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable has_ended_;
    std::vector<SmtpTalk> talks_;
};

}  // namespace interlock
