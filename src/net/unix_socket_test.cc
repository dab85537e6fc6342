// The operator's socket: its mode, stale files, and what must be left alone.
#include "net/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "net/test_peer.h"

namespace interlock {
namespace {

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

bool exists(const std::string& path) {
    return std::filesystem::exists(path);
}

HttpServerConfig on_socket(const std::string& path) {
    HttpServerConfig config;
    config.address = "";
    config.unix_socket_path = path;
    return config;
}

// What a killed server leaves behind: a bound socket file with no process on it.
void leave_stale_socket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof(address.sun_path));
    std::memcpy(address.sun_path, path.data(), path.size());
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ::close(descriptor);
    ASSERT_TRUE(exists(path));
}

TEST(UnixSocket, ServesTheOperator) {
    const TestFolder folder;
    HeldRequests held;
    const auto server = start_server(held.handler(), on_socket(folder / "s"));
    EXPECT_EQ(server->port(), 0);
    RawPeer peer(HttpTarget{folder / "s", "localhost", 0});
    peer.send(kGet);
    const HeldRequest request = held.next();
    EXPECT_EQ(request.request.listener, Listener::operator_socket);
    EXPECT_EQ(request.request.peer_address, "unix");
    EXPECT_TRUE(request.request.peer_is_loopback);
    request.responder->send(text_response(200, "text/plain", "yes"));
    EXPECT_EQ(peer.read_response().body, "yes");
}

TEST(UnixSocket, IsOpenToItsOwnerOnly) {
    const TestFolder folder;
    const mode_t mask_before = ::umask(0);
    const auto listener = UnixListener::open(folder / "s");
    const mode_t mask_after = ::umask(mask_before);
    ASSERT_TRUE(listener.has_value());
    EXPECT_EQ(mask_after, 0u);
    struct stat found{};
    ASSERT_EQ(::stat((folder / "s").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST(UnixSocket, ReplacesAStaleFile) {
    const TestFolder folder;
    leave_stale_socket(folder / "s");
    const auto server = start_server(echo, on_socket(folder / "s"));
    RawPeer peer(HttpTarget{folder / "s", "localhost", 0});
    peer.send(kGet);
    EXPECT_EQ(peer.read_response().status, 200);
}

TEST(UnixSocket, LeavesALiveServerAlone) {
    const TestFolder folder;
    const auto first = start_server(echo, on_socket(folder / "s"));
    const auto second = HttpServer::open(on_socket(folder / "s"), echo);
    ASSERT_FALSE(second.has_value());
    EXPECT_NE(second.error().message.find(folder / "s"), std::string::npos);
    RawPeer peer(HttpTarget{folder / "s", "localhost", 0});
    peer.send(kGet);
    EXPECT_EQ(peer.read_response().status, 200);
}

TEST(UnixSocket, LeavesAnyOtherFileAlone) {
    const TestFolder folder;
    std::ofstream(folder / "s") << "precious";
    const auto server = HttpServer::open(on_socket(folder / "s"), echo);
    ASSERT_FALSE(server.has_value());
    std::ifstream file(folder / "s");
    std::string content;
    file >> content;
    EXPECT_EQ(content, "precious");
}

TEST(UnixSocket, IsGoneAfterTheStop) {
    const TestFolder folder;
    auto server = start_server(echo, on_socket(folder / "s"));
    EXPECT_TRUE(exists(folder / "s"));
    server->stop(std::chrono::milliseconds(0));
    EXPECT_FALSE(exists(folder / "s"));
}

TEST(UnixSocket, LeavesTheFileOfASuccessor) {
    const TestFolder folder;
    auto first = UnixListener::open(folder / "s");
    ASSERT_TRUE(first.has_value());
    std::filesystem::rename(folder / "s", folder / "moved");
    leave_stale_socket(folder / "s");
    {
        const UnixListener ended = *std::move(first);
    }
    EXPECT_TRUE(exists(folder / "s"));
}

TEST(UnixSocket, RefusesAPathThatIsTooLong) {
    const TestFolder folder;
    const auto listener = UnixListener::open(folder / std::string(120, 'x'));
    ASSERT_FALSE(listener.has_value());
    EXPECT_NE(listener.error().message.find("107"), std::string::npos);
}

TEST(UnixSocket, SaysWhenTheFolderIsMissing) {
    const TestFolder folder;
    EXPECT_FALSE(UnixListener::open(folder / "missing/s").has_value());
}

}  // namespace
}  // namespace interlock
