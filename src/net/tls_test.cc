// TLS: a round trip with a certificate made on the spot, old versions, broken files.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "net/http_server.h"
#include "net/test_certificate.h"
#include "net/test_peer.h"
#include "net/tls_context.h"

namespace interlock {
namespace {

class Tls : public testing::Test {
protected:
    Tls() {
        std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own sockets raise it; the server's do not.
        const KeyPtr key = make_key();
        write_key(key.get(), files_.private_key_path);
        write_certificate(key.get(), files_.certificate_chain_path);
    }

    HttpServerConfig config() {
        HttpServerConfig config;
        config.tls = files_;
        return config;
    }

    std::string problem() {
        const auto context = open_tls_context(files_);
        return context ? "(none)" : context.error().message;
    }

    TestFolder folder_;
    TlsFiles files_{
        .certificate_chain_path = folder_ / "cert.pem", .private_key_path = folder_ / "key.pem"};
};

// A blocking TLS client over OpenSSL alone, trusting only the certificate under test.
class TlsPeer {
public:
    TlsPeer(std::uint16_t port, const std::string& trusted, int version_max = 0)
        : context_(SSL_CTX_new(TLS_client_method())) {
        SSL_CTX_load_verify_file(context_, trusted.c_str());
        SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
        if (version_max != 0) {
            SSL_CTX_set_min_proto_version(context_, version_max);
            SSL_CTX_set_max_proto_version(context_, version_max);
            SSL_CTX_set_cipher_list(context_, "DEFAULT:@SECLEVEL=0");
        }
        bio_ = BIO_new_ssl_connect(context_);
        BIO_set_conn_hostname(bio_, ("127.0.0.1:" + std::to_string(port)).c_str());
        BIO_get_ssl(bio_, &ssl_);
    }
    // From another address of this machine.
    TlsPeer(const std::string& from, std::uint16_t port, const std::string& trusted)
        : context_(SSL_CTX_new(TLS_client_method())) {
        SSL_CTX_load_verify_file(context_, trusted.c_str());
        SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const auto at = [](const std::string& address, std::uint16_t of_port) {
            sockaddr_in name{};
            name.sin_family = AF_INET;
            name.sin_port = htons(of_port);
            ::inet_pton(AF_INET, address.c_str(), &name.sin_addr);
            return name;
        };
        const sockaddr_in here = at(from, 0);
        const sockaddr_in there = at("127.0.0.1", port);
        EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
        EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&there), sizeof(there)), 0);
        bio_ = BIO_push(BIO_new_ssl(context_, 1), BIO_new_socket(fd, BIO_CLOSE));
        BIO_get_ssl(bio_, &ssl_);
    }
    ~TlsPeer() {
        BIO_free_all(bio_);
        SSL_CTX_free(context_);
        ERR_clear_error();
    }
    TlsPeer(const TlsPeer&) = delete;
    TlsPeer& operator=(const TlsPeer&) = delete;

    bool connect() { return BIO_do_handshake(bio_) == 1; }

    void send(std::string_view bytes) {
        ASSERT_EQ(
            BIO_write(bio_, bytes.data(), static_cast<int>(bytes.size())),
            static_cast<int>(bytes.size()));
    }

    HttpResponse read_response() {
        HttpResponseParser parser(HttpParseLimits{64 * 1024, 64 * 1024 * 1024}, false);
        while (true) {
            const ParseStep step = parser.feed(unread_);
            unread_.erase(0, step.consumed);
            if (step.status == ParseStatus::complete) {
                return std::move(parser.response());
            }
            if (step.status == ParseStatus::failed || !read_more()) {
                ADD_FAILURE() << "no whole response";
                return {.status = 0, .headers = {}, .body = {}};
            }
        }
    }

    bool read_more() {
        char buffer[16 * 1024];
        const int count = BIO_read(bio_, buffer, sizeof(buffer));
        if (count > 0) {
            unread_.append(buffer, static_cast<std::size_t>(count));
        }
        return count > 0;
    }

    bool has_close_notify() const { return (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0; }
    std::string version() const { return SSL_get_version(ssl_); }

private:
    SSL_CTX* context_;
    BIO* bio_;
    SSL* ssl_ = nullptr;
    std::string unread_;
};

TEST_F(Tls, AnswersOverAnEncryptedConnection) {
    std::atomic<bool> was_tls{false};
    const auto server = start_server(
        [&](HttpRequest request, const HttpResponderPtr& responder) {
            was_tls = request.tls;
            echo(std::move(request), responder);
        },
        config());
    TlsPeer peer(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(peer.connect());
    EXPECT_EQ(peer.version(), "TLSv1.3");
    for (int i = 0; i < 3; ++i) {
        peer.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab");
        EXPECT_EQ(peer.read_response().body, "POST /p ab");
    }
    EXPECT_TRUE(was_tls);
}

TEST_F(Tls, CarriesBodiesOfManyRecords) {
    const auto server = start_server(echo, config());
    TlsPeer peer(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(peer.connect());
    const std::string body(1000 * 1000, 'x');
    peer.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + body);
    EXPECT_EQ(peer.read_response().body, "POST /p " + body);
}

TEST_F(Tls, StreamsAndEndsWithACloseNotify) {
    const auto server = start_server(
        [](HttpRequest, const HttpResponderPtr& responder) {
            const auto stream = responder->start_stream(text_response(200, "a", ""));
            stream->write("one");
            stream->write("two");
        },
        config());
    TlsPeer peer(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(peer.connect());
    peer.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(peer.read_response().body, "onetwo");
    EXPECT_FALSE(peer.read_more());
    EXPECT_TRUE(peer.has_close_notify());
}

TEST_F(Tls, LetsACallerReadThe413WhileItIsStillSending) {
    HttpServerConfig small = config();
    small.limits.body_bytes_max = 1000;
    const auto server = start_server(echo, small);
    TlsPeer peer(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(peer.connect());
    peer.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\r\n");
    peer.send(std::string(400'000, 'x'));
    EXPECT_EQ(peer.read_response().status, 413);
}

TEST_F(Tls, SpeaksVersion12ButNothingOlder) {
    const auto server = start_server(echo, config());
    TlsPeer newer(server->port(), files_.certificate_chain_path, TLS1_2_VERSION);
    ASSERT_TRUE(newer.connect());
    EXPECT_EQ(newer.version(), "TLSv1.2");
    TlsPeer older(server->port(), files_.certificate_chain_path, TLS1_1_VERSION);
    EXPECT_FALSE(older.connect());
}

TEST_F(Tls, ClosesOnACallerThatSpeaksPlainText) {
    const auto server = start_server(echo, config());
    RawPeer peer(server->port());
    peer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(peer.read_to_end().find("HTTP/1.1"), std::string::npos);
    EXPECT_EQ(server->counters().requests, 0u);
}

TEST_F(Tls, GivesUpOnASlowHandshake) {
    HttpServerConfig hasty = config();
    hasty.limits.request_read_timeout = std::chrono::milliseconds(60);
    const auto server = start_server(echo, hasty);
    RawPeer silent(server->port());
    EXPECT_TRUE(silent.is_closed_by_server());
}

TEST_F(Tls, ClosesConnectionsBeyondTheBound) {
    HttpServerConfig small = config();
    small.limits.connections_max = 1;
    HeldRequests held;
    const auto server = start_server(held.handler(), small);
    TlsPeer admitted(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(admitted.connect());
    admitted.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    const HeldRequest being_answered = held.next();
    TlsPeer refused(server->port(), files_.certificate_chain_path);
    EXPECT_FALSE(refused.connect());
    EXPECT_EQ(server->counters().refused, 1u);
}

// Places do not bound handshakes: whoever gives his up at once takes the next. So an address has so
// many a second, and only those; who is in stays in, and other addresses do not notice.
TEST_F(Tls, ClosesNewHandshakesOfOneAddressBeyondItsShareUnheard) {
    HttpServerConfig strict = config();
    strict.limits.handshakes_per_second = 1;
    strict.limits.handshakes_at_once = 3;
    const auto server = start_server(echo, strict);
    TlsPeer known(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(known.connect());
    int refused = 0;
    for (int i = 0; i < 40; ++i) {
        TlsPeer flood(server->port(), files_.certificate_chain_path);
        refused += flood.connect() ? 0 : 1;
    }
    // How many of them a slow machine lets in is a matter of its seconds.
    EXPECT_GE(refused, 1);
    EXPECT_EQ(server->counters().refused, static_cast<std::uint64_t>(refused));
    EXPECT_EQ(server->counters().accepted, 41u - static_cast<std::uint64_t>(refused));
    known.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(known.read_response().status, 200);
    TlsPeer other("127.0.0.2", server->port(), files_.certificate_chain_path);
    EXPECT_TRUE(other.connect());
}

TEST_F(Tls, CountsNoHandshakesOfAProxyThatStandsForMany) {
    HttpServerConfig strict = config();
    strict.limits.handshakes_per_second = 1;
    strict.limits.handshakes_at_once = 1;
    strict.trusted_proxies = {*parse_cidr("127.0.0.1/32")};
    const auto server = start_server(echo, strict);
    for (int i = 0; i < 5; ++i) {
        TlsPeer peer(server->port(), files_.certificate_chain_path);
        EXPECT_TRUE(peer.connect());
    }
}

TEST_F(Tls, StopsWithTlsConnectionsOpen) {
    const auto server = start_server(echo, config());
    TlsPeer peer(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(peer.connect());
    server->stop(kTestPatience);
    EXPECT_EQ(server->counters().open, 0u);
    EXPECT_FALSE(peer.read_more());
}

TEST_F(Tls, NamesAFileThatIsMissing) {
    files_.certificate_chain_path = folder_ / "nowhere.pem";
    EXPECT_NE(problem().find("nowhere.pem cannot be read"), std::string::npos) << problem();
}

TEST_F(Tls, NamesACertificateThatIsNone) {
    std::ofstream(files_.certificate_chain_path) << "not a certificate";
    EXPECT_NE(problem().find("cert.pem is no PEM certificate"), std::string::npos) << problem();
}

TEST_F(Tls, NamesAKeyThatIsNone) {
    std::ofstream(files_.private_key_path) << "not a key";
    EXPECT_NE(problem().find("key.pem is no unencrypted PEM key"), std::string::npos) << problem();
}

TEST_F(Tls, RefusesAnEncryptedKeyWithoutAsking) {
    const KeyPtr key = make_key();
    write_certificate(key.get(), files_.certificate_chain_path);
    write_key(key.get(), files_.private_key_path, "passphrase");
    EXPECT_NE(problem().find("key.pem is no unencrypted PEM key"), std::string::npos) << problem();
}

TEST_F(Tls, RefusesAKeyOfAnotherCertificate) {
    write_key(make_key().get(), files_.private_key_path);
    EXPECT_NE(problem().find("does not belong to the certificate"), std::string::npos) << problem();
}

TEST_F(Tls, FailsTheWholeServerOnBadFiles) {
    files_.private_key_path = folder_ / "nowhere.pem";
    EXPECT_FALSE(HttpServer::open(config(), echo).has_value());
}

TEST_F(Tls, RefusesAKeyThatOthersMayRead) {
    for (const mode_t mode : {0640, 0604, 0660}) {
        ASSERT_EQ(::chmod(files_.private_key_path.c_str(), mode), 0);
        const auto context = open_tls_context(files_);
        ASSERT_FALSE(context.has_value()) << mode;
        EXPECT_NE(context.error().message.find("open to other users"), std::string::npos);
        EXPECT_EQ(context.error().next(), "Run: chmod 600 " + files_.private_key_path);
    }
}

TEST_F(Tls, ReloadsItsCertificateForNewConnectionsAndKeepsTheOldOnes) {
    const auto server = start_server(echo, config());
    TlsPeer before(server->port(), files_.certificate_chain_path);
    ASSERT_TRUE(before.connect());
    const std::string old_certificate = folder_ / "old.pem";
    std::filesystem::copy_file(files_.certificate_chain_path, old_certificate);

    const KeyPtr key = make_key();
    write_key(key.get(), files_.private_key_path);
    write_certificate(key.get(), files_.certificate_chain_path);
    ASSERT_TRUE(server->reload_tls().has_value());
    TlsPeer after(server->port(), files_.certificate_chain_path);
    EXPECT_TRUE(after.connect());
    TlsPeer outdated(server->port(), old_certificate);
    EXPECT_FALSE(outdated.connect());
    before.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab");
    EXPECT_EQ(before.read_response().body, "POST /p ab");
}

TEST_F(Tls, KeepsTheOldCertificateWhenTheNewPairIsBad) {
    const auto server = start_server(echo, config());
    write_key(make_key().get(), files_.private_key_path);
    const auto reloaded = server->reload_tls();
    ASSERT_FALSE(reloaded.has_value());
    EXPECT_NE(reloaded.error().message.find("does not belong"), std::string::npos);
    TlsPeer peer(server->port(), files_.certificate_chain_path);
    EXPECT_TRUE(peer.connect());
}

}  // namespace
}  // namespace interlock
